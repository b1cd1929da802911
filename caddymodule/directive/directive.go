package directive

import (
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	_ "github.com/svc-gateway/svc/caddymodule/order" // the directives' places
)

// stage is a handler of type T that reads itself from a Caddyfile.
type stage[T any] interface {
	*T
	caddyhttp.MiddlewareHandler
	caddyfile.Unmarshaler
}

// Register makes a directive of the stage whose handler is a T. If the stage has a method Beside, a
// directive with a matcher makes a second route, for all requests, with what that returns. Each of looks sees the matcher that
// stands before the block, by the names of its parts, and may say something about it.
func Register[T any, S stage[T]](name string, looks ...func(at Place, matcher caddy.ModuleMap)) {
	httpcaddyfile.RegisterDirective(name, func(h httpcaddyfile.Helper) ([]httpcaddyfile.ConfigValue, error) {
		if !h.Next() {
			return nil, h.ArgErr()
		}
		at := Place{h.File(), h.Line()}
		matcher, err := h.ExtractMatcherSet()
		if err != nil {
			return nil, err
		}
		for _, look := range looks {
			look(at, matcher)
		}
		s := S(new(T))
		if err := s.UnmarshalCaddyfile(h.Dispenser); err != nil {
			return nil, err
		}
		routes := h.NewRoute(matcher, s)
		if b, ok := any(s).(besider); ok && matcher != nil {
			routes = append(routes, h.NewRoute(nil, b.Beside())...)
		}
		return routes, nil
	})
}

// besider is a stage that has a say about the requests that the matcher of its directive leaves out.
type besider interface {
	// Beside returns the handler of a route without a matcher, at the level of the directive.
	Beside() caddyhttp.MiddlewareHandler
}

// Place is where a directive stands.
type Place struct {
	File string
	Line int
}

// Option is an option of a directive.
type Option struct {
	Name    string
	Repeats bool // it may be given more than once
	Read    func(Line) error
}

// Read reads a directive with these options.
func Read(d *caddyfile.Dispenser, options ...Option) error {
	d.Next() // directive name
	name := d.Val()
	if d.NextArg() {
		return d.Errf("%s takes no argument, found %q: options go into a block", name, d.Val())
	}
	given := map[string]bool{}
	for d.NextBlock(0) {
		i := slices.IndexFunc(options, func(o Option) bool { return o.Name == d.Val() })
		if i < 0 {
			return d.Errf("%s: unknown option %q: want %s", name, d.Val(), choice(namesOf(options)))
		}
		o := options[i]
		if given[o.Name] && !o.Repeats {
			return d.Errf("%s: %s is given twice", name, o.Name)
		}
		given[o.Name] = true
		if err := o.Read(Line{d: d, directive: name, option: o.Name}); err != nil {
			return err
		}
	}
	return nil
}

func namesOf(options []Option) []string {
	names := make([]string, len(options))
	for i, o := range options {
		names[i] = o.Name
	}
	return names
}

// choice writes names as "a, b or c".
func choice(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
