// Package inventory knows which devices there are: it reads lists of them from files, keeps them in the
// table inventory of the analytical database, and finds them there by name and by group.
//
//	devices, skipped, err := inventory.Read("devices.yaml", text)
//	done, err := inventory.NewTable(db).Import(ctx, devices)
//	list, err := inventory.NewTable(db).Load(ctx)
//	found, err := list.Find([]string{"edge1"}, "core")
//
// # Files
//
// A file is YAML or CSV in this package's own form, or what NetBox gives: the answer of its API to a request
// for a list of devices, as JSON, or an export as CSV. Which of them it is stands in the file itself.
//
// # Guarantees
//
// A file is imported whole or not at all. Every mistake is told, with the file, the line, the field and
// what to do. All values are of few characters, of which none can be mistaken for a quote, a line or a
// command; rows that come back from the database are held to the same form. What a file of NetBox has
// beyond the fields of a [Device] is not looked at; in this package's own form, an unknown field is a
// mistake.
//
// # Concurrency
//
// Reading keeps no state. A [Table] is safe for concurrent use, a [List] is not changed.
package inventory
