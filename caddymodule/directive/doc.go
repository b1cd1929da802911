// Package directive reads what the directives of all stages have in common: a name without arguments
// and a block of options, each on a line with its values.
//
//	func init() { directive.Register[Handler]("svc_scan") }
//
//	func (h *Handler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
//		return directive.Read(d,
//			directive.Option{Name: "max_scan", Read: func(l directive.Line) error { … }},
//			directive.Option{Name: "beyond", Read: directive.OneOf(&h.Beyond, "stream", "refuse")},
//		)
//	}
//
// A package that imports it has the directives in their places, too (package order).
//
// # Guarantees
//
// An argument, an unknown option, an option given twice that is not to be repeated, and values that an
// option does not take are errors that name the directive, the option, the file and the line.
//
// # Concurrency
//
// A Caddyfile is read by one goroutine.
package directive
