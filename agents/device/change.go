package device

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/svc-gateway/svc/agents/inventory"
)

// Plan is what lines would change.
type Plan struct {
	Diff      string // against the running configuration; its secrets are redacted
	Predicted bool   // by this package: the platform has no candidate that could be asked
}

// Done is what a change has done.
type Done struct {
	Diff  string // what is other now
	Saved bool   // it stays over a restart
}

// What can come of a change, in the chain of errors.
var (
	ErrNothing = errors.New("the lines change nothing")
	ErrOther   = errors.New("the difference is another one now than the one that was shown")
	// ErrUndone says that the device did something else than what was approved, and is as it was before.
	ErrUndone = errors.New("the change was taken back, and the configuration is as it was")
	// ErrUnsure says that the device did not answer when it was to make the change for good.
	ErrUnsure = errors.New("nobody knows whether the change is made")
	// ErrLeft says that it is not as it was.
	ErrLeft = errors.New("the change could NOT be taken back as a whole: look at the device")
)

// changer changes the configuration in one way.
type changer interface {
	plan(ctx context.Context, lines string) (string, error)
	apply(ctx context.Context, lines, diff string) (Done, error)
}

// changing opens a session and calls do with the way to change this platform.
func (f *Fleet) changing(ctx context.Context, d inventory.Device, lines string, do func(context.Context, changer) error) error {
	p, ok := platforms[d.Platform]
	if !ok {
		return fmt.Errorf("the configuration of its platform %q cannot be changed: %s, %s, %s and %s can", d.Platform, inventory.IOS, inventory.NXOS, inventory.EOS, inventory.Junos)
	}
	if err := checkLines(lines, p); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*f.c.Timeout)
	defer cancel()
	t, login, end, err := f.session(ctx, d)
	if err != nil {
		return err
	}
	defer end()
	if err := t.privileged(ctx, login); err != nil {
		return err
	}
	t.left = 16 * f.c.Output // configurations are long, and read more than once
	if p.candid {
		return do(ctx, junos{t, f.hide})
	}
	return do(ctx, ios{t, f.hide})
}

// hide takes the secrets out of a difference, and of whatever else a change says: what is shown, recorded
// and compared has gone through it. A line of a configuration is known by the word that it begins with, so
// each is looked at without its sign as well.
func (f *Fleet) hide(text string) string {
	var b strings.Builder
	for line := range strings.Lines(f.c.Redact(text)) { // as a whole first: some secrets have several lines
		sign := len(line) - len(strings.TrimLeft(line, "+-!"))
		b.WriteString(line[:sign] + f.c.Redact(line[sign:]))
	}
	return b.String()
}

// Plan says what lines would change in the configuration of a device, and changes nothing.
func (f *Fleet) Plan(ctx context.Context, d inventory.Device, lines string) (p Plan, err error) {
	err = f.changing(ctx, d, lines, func(ctx context.Context, c changer) error {
		diff, err := c.plan(ctx, lines)
		_, asked := c.(junos)
		p = Plan{f.hide(diff), !asked}
		return err
	})
	return p, err
}

// Apply makes the change that lines make, if it is the one that diff shows: as Plan has shown it. It
// compares the configuration afterwards, and takes the change back where it came out otherwise.
func (f *Fleet) Apply(ctx context.Context, d inventory.Device, lines, diff string) (done Done, err error) {
	err = f.changing(ctx, d, lines, func(ctx context.Context, c changer) error {
		done, err = c.apply(ctx, lines, diff)
		done.Diff = f.hide(done.Diff)
		return err
	})
	return done, err
}

// same reports whether a difference is the one that was shown. What was shown has no secrets any more.
func same(hide func(string) string, is, shown string) bool {
	return flat(hide(is)) == flat(hide(shown))
}

// flat is a text without the spaces that nobody sees.
func flat(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, " \t\r\n"); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// other is the error for a difference that is not the one that was shown.
func other(hide func(string) string, diff string) error {
	return fmt.Errorf("%w. It is:\n%s", ErrOther, hide(diff))
}

// repair is how long taking a change back may take when the time for the change is over.
const repair = 20 * time.Second

// after is a context for taking a change back.
func after(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), repair)
}
