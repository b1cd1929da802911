package directive_test

import (
	"errors"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/caddymodule/directive"
)

// options are what a test's directive holds.
type options struct {
	Flag   bool
	Size   string
	Mode   string
	Words  []string
	Nested string
}

func (o *options) read(d *caddyfile.Dispenser) error {
	return directive.Read(d,
		directive.Option{Name: "flag", Read: func(l directive.Line) error {
			o.Flag = true
			return l.None()
		}},
		directive.Option{Name: "size", Read: func(l directive.Line) (err error) {
			o.Size, err = l.One()
			return err
		}},
		directive.Option{Name: "mode", Read: directive.OneOf(&o.Mode, "fast", "slow", "off")},
		directive.Option{Name: "words", Repeats: true, Read: directive.Words(&o.Words, func(value string) error {
			if value == "bad" {
				return errors.New("it is bad")
			}
			return nil
		})},
		directive.Option{Name: "block", Read: func(l directive.Line) error {
			d := l.Dispenser()
			for nesting := d.Nesting(); d.NextBlock(nesting); {
				o.Nested += d.Val()
			}
			return nil
		}},
	)
}

func TestRead(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       options
		err        string
	}{
		{"nothing", "svc_x", options{}, ""},
		{"an empty block", "svc_x {\n}", options{}, ""},
		{"all", "svc_x {\nflag\nsize 1\nmode slow\nwords a b\nwords c\nblock {\nx\ny\n}\n}", options{true, "1", "slow", []string{"a", "b", "c"}, "xy"}, ""},
		{"an argument", "svc_x y", options{}, `svc_x takes no argument, found "y": options go into a block, at Testfile:1`},
		{"unknown", "svc_x {\n\nfast\n}", options{}, `svc_x: unknown option "fast": want flag, size, mode, words or block, at Testfile:3`},
		{"twice", "svc_x {\nsize 1\nsize 2\n}", options{}, `svc_x: size is given twice, at Testfile:3`},
		{"a value too many", "svc_x {\nflag on\n}", options{}, `svc_x: flag takes no value, found "on", at Testfile:2`},
		{"no value", "svc_x {\nsize\n}", options{}, `svc_x: size takes exactly one value, at Testfile:2`},
		{"two values", "svc_x {\nmode fast slow\n}", options{}, `svc_x: mode takes exactly one value, at Testfile:2`},
		{"another value", "svc_x {\nmode medium\n}", options{}, `svc_x: mode: unknown value "medium": want fast, slow or off, at Testfile:2`},
		{"no words", "svc_x {\nwords\n}", options{}, `svc_x: words takes at least one value, at Testfile:2`},
		{"a bad word", "svc_x {\nwords a bad\n}", options{}, `svc_x: words: it is bad, at Testfile:2`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got options
			err := got.read(caddyfile.NewTestDispenser(tt.text))
			if tt.err == "" && err == nil {
				if d := cmp.Diff(tt.want, got); d != "" {
					t.Errorf("(-want +got):\n%s", d)
				}
				return
			}
			if err == nil || err.Error() != tt.err {
				t.Errorf("got %v, want %s", err, tt.err)
			}
		})
	}
}
