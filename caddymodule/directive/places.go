package directive

import "fmt"

// Places says where options were written, as file:line, by the name of the option. A handler has it in its
// JSON for options whose value can be judged only when the configuration is loaded: one with placeholders,
// or one that depends on settings. All others are judged when the Caddyfile is read.
type Places map[string]string

// Note remembers the line of an option.
func (p *Places) Note(option string, l Line) {
	if *p == nil {
		*p = Places{}
	}
	(*p)[option] = fmt.Sprintf("%s:%d", l.d.File(), l.d.Line())
}

// At says where an option was written that an error is about, as the errors of a Caddyfile do.
func (p Places) At(option string, err error) error {
	place := p[option]
	if err == nil || place == "" {
		return err
	}
	return fmt.Errorf("%w, at %s", err, place)
}
