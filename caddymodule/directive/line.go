package directive

import (
	"slices"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// Line is the line of an option, whose name has been read.
type Line struct {
	d                 *caddyfile.Dispenser
	directive, option string
}

// Dispenser returns where the line comes from, for an option with a block of its own.
func (l Line) Dispenser() *caddyfile.Dispenser { return l.d }

// Mark returns the line as it stands, for an error that shows only when more has been read.
func (l Line) Mark() Line {
	here := *l.d
	l.d = &here
	return l
}

// Errf returns an error that names the directive, the option, the file and the line.
func (l Line) Errf(format string, args ...any) error {
	return l.d.Errf("%s: %s: "+format, append([]any{l.directive, l.option}, args...)...)
}

// Say is Errf for an error that names the option itself.
func (l Line) Say(err error) error { return l.d.Errf("%s: %v", l.directive, err) }

// None reads an option that takes no value.
func (l Line) None() error {
	if l.d.NextArg() {
		return l.d.Errf("%s: %s takes no value, found %q", l.directive, l.option, l.d.Val())
	}
	return nil
}

// One reads the only value of an option.
func (l Line) One() (string, error) {
	var value string
	if !l.d.AllArgs(&value) {
		return "", l.d.Errf("%s: %s takes exactly one value", l.directive, l.option)
	}
	return value, nil
}

// Some reads the values of an option that has at least one.
func (l Line) Some() ([]string, error) {
	values := l.d.RemainingArgs()
	if len(values) == 0 {
		return nil, l.d.Errf("%s: %s takes at least one value", l.directive, l.option)
	}
	return values, nil
}

// Known refuses a value that is not one of those that are known.
func (l Line) Known(value string, known ...string) error {
	if !slices.Contains(known, value) {
		return l.Errf("unknown value %q: want %s", value, choice(known))
	}
	return nil
}

// OneOf reads an option whose value is one of a few.
func OneOf(to *string, known ...string) func(Line) error {
	return func(l Line) error {
		value, err := l.One()
		if err != nil {
			return err
		}
		*to = value
		return l.Known(value, known...)
	}
}

// Words reads the values of an option that has at least one, each of which check accepts, and appends
// them.
func Words(to *[]string, check func(value string) error) func(Line) error {
	return func(l Line) error {
		values, err := l.Some()
		if err != nil {
			return err
		}
		for _, v := range values {
			if err := check(v); err != nil {
				return l.Errf("%v", err)
			}
		}
		*to = append(*to, values...)
		return nil
	}
}
