package scan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/svc-gateway/svc/caddymodule/directive"
	"github.com/svc-gateway/svc/internal/bytesize"
)

// readClassifier reads "classifier <url>" and the block behind it.
func (h *Handler) readClassifier(l directive.Line) error {
	url, err := l.One()
	if err != nil {
		return err
	}
	c := &Classifier{URL: url}
	options := c.options()
	names := make([]string, len(options))
	for i, o := range options {
		names[i] = o.name
	}
	given := map[string]bool{}
	d := l.Dispenser()
	at := l.Mark()
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		name, values := d.Val(), d.RemainingArgs()
		i := slices.Index(names, name)
		switch {
		case i < 0:
			return l.Errf("unknown option %q: want one of %s", name, strings.Join(names, ", "))
		case given[name]:
			return l.Errf("%s is given twice", name)
		case options[i].flag && len(values) > 0:
			return l.Errf("%s takes no value, found %q", name, values[0])
		case !options[i].flag && len(values) != 1:
			return l.Errf("%s takes exactly one value", name)
		}
		given[name] = true
		if err := options[i].set(strings.Join(values, "")); err != nil {
			return l.Errf("%s: %v", name, err)
		}
	}
	if err := c.check(); err != nil {
		return at.Errf("%v", err)
	}
	if h.Classifier = c; c.APIKey != "" || c.CAFile != "" { // which are read when the configuration is loaded
		h.Places.Note("classifier", at)
	}
	return nil
}

// option is an option of the block.
type option struct {
	name string
	flag bool
	set  func(value string) error
}

// options are the options of the block. What is wrong with a value that can be read, check tells.
func (c *Classifier) options() []option {
	return []option{
		{name: "action", set: word(&c.Action)},
		{name: "shape", set: word(&c.Shape)},
		{name: "model", set: word(&c.Model)},
		{name: "api_key", set: word(&c.APIKey)},
		{name: "ca_file", set: word(&c.CAFile)},
		{name: "timeout", set: span(&c.Timeout)},
		{name: "threshold", set: func(v string) (err error) {
			if c.Threshold, err = strconv.ParseFloat(v, 64); err != nil || c.Threshold <= 0 {
				return fmt.Errorf("%q is not a number above 0 and up to 1, such as 0.8", v)
			}
			return nil
		}},
		{name: "fail", set: word(&c.Fail)},
		{name: "failures", set: count(&c.Failures)},
		{name: "pause", set: span(&c.Pause)},
		{name: "max_text", set: ofBytes(&c.MaxText)},
		{name: "piece", set: ofBytes(&c.Piece)},
		{name: "calls", set: count(&c.Calls)},
		{name: "unredacted", flag: true, set: func(string) error { c.Unredacted = true; return nil }},
	}
}

func word(to *string) func(string) error {
	return func(v string) error {
		if v == "" {
			return fmt.Errorf("the value is empty")
		}
		*to = v
		return nil
	}
}

func span(to *caddy.Duration) func(string) error {
	return func(v string) error {
		d, err := caddy.ParseDuration(v)
		if err != nil || d <= 0 {
			return fmt.Errorf("%q is not a positive duration: write a number with its unit, such as 500ms or 2s", v)
		}
		*to = caddy.Duration(d)
		return nil
	}
}

func count(to *int) func(string) error {
	return func(v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 {
			return fmt.Errorf("%q is not a whole number of at least 1", v)
		}
		*to = n
		return nil
	}
}

func ofBytes(to *int64) func(string) error {
	return func(v string) error {
		n, err := bytesize.Parse(v)
		if err != nil {
			return err
		}
		*to = n
		return nil
	}
}
