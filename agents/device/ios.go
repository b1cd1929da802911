package device

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// ios changes the running configuration line by line: it has no candidate. What lines would change is told
// beforehand from the running configuration, and held against it afterwards.
type ios struct {
	t    *session
	hide func(string) string
}

// running reads the configuration.
func (c ios) running(ctx context.Context) (configuration, error) {
	text, err := c.t.command(ctx, "show running-config", nil)
	if err != nil {
		return nil, fmt.Errorf("reading the running configuration: %w", err)
	}
	if complaint.MatchString(text) {
		return nil, errors.New("the login may not read the running configuration")
	}
	return readLines(text), nil
}

func (c ios) planned(ctx context.Context, lines string) (running configuration, planned change, err error) {
	if running, err = c.running(ctx); err != nil {
		return nil, planned, err
	}
	if planned = difference(running, running.with(readLines(lines))); planned.empty() {
		return nil, planned, ErrNothing
	}
	return running, planned, nil
}

func (c ios) plan(ctx context.Context, lines string) (string, error) {
	_, planned, err := c.planned(ctx, lines)
	return planned.String(), err
}

func (c ios) apply(ctx context.Context, lines, diff string) (Done, error) {
	before, planned, err := c.planned(ctx, lines)
	if err != nil {
		return Done{}, err
	}
	if !same(c.hide, planned.String(), diff) {
		return Done{}, other(c.hide, planned.String())
	}
	entered := c.enter(ctx, readLines(lines))
	var now configuration
	if entered == nil || errors.Is(entered, ErrRefused) {
		if now, err = c.running(ctx); err != nil {
			return Done{}, fmt.Errorf("%w: the lines were entered, and then: %w. They are not saved: a restart brings the old configuration back", ErrLeft, err)
		}
	} else {
		return Done{}, fmt.Errorf("%w: while the lines were entered: %w. They are not saved: a restart brings the old configuration back", ErrLeft, entered)
	}
	happened := difference(before, now)
	if entered == nil && planned.covers(happened) {
		return c.save(ctx, happened)
	}
	why := entered
	if why == nil {
		why = fmt.Errorf("the device did something else:\n%s", c.hide(happened.String()))
	}
	return Done{}, c.undo(ctx, before, happened, why)
}

// enter types lines in the mode for the configuration. A line that the device does not take ends it.
func (c ios) enter(ctx context.Context, lines configuration) error {
	if _, err := c.t.command(ctx, "configure terminal", nil); err != nil {
		return err
	}
	if !strings.HasPrefix(c.t.mode, "(conf") {
		return fmt.Errorf("%w: configure terminal", ErrRefused)
	}
	// What is entered may change the name in the prompt; the mode stays in it.
	c.t.prompt = c.t.platform.prompt
	var at statement // the sections that the session is in
	for _, l := range lines {
		within := l[:len(l)-1]
		common := 0
		for common < min(len(at), len(within)) && at[common] == within[common] {
			common++
		}
		for ; len(at) > common; at = at[:len(at)-1] {
			if _, err := c.t.command(ctx, "exit", nil); err != nil {
				return err
			}
		}
		for i := common; i < len(l); i++ {
			mode := c.t.mode
			if err := c.line(ctx, l[i]); err != nil {
				return err
			}
			if c.t.mode != mode {
				at = l[:i+1]
			}
		}
	}
	_, err := c.t.command(ctx, "end", nil)
	c.t.learn()
	return err
}

// line types a line of the configuration. One that the device does not take leaves the mode.
func (c ios) line(ctx context.Context, text string) error {
	said, err := c.t.command(ctx, text, nil)
	switch {
	case err != nil:
		return err
	case complaint.MatchString(said):
		err = fmt.Errorf("%w: the line %q: %s", ErrRefused, c.hide(text), strings.Join(strings.Fields(c.hide(said)), " "))
	case strings.HasPrefix(c.t.mode, "(conf"):
		return nil
	default:
		err = fmt.Errorf("%w: the line %q leaves the mode for the configuration", ErrRefused, c.hide(text))
	}
	if strings.HasPrefix(c.t.mode, "(conf") {
		_, ended := c.t.command(ctx, "end", nil)
		err = errors.Join(err, ended)
	}
	c.t.learn()
	return err
}

// save keeps a change that is as it was to be.
func (c ios) save(ctx context.Context, happened change) (Done, error) {
	done := Done{Diff: happened.String()}
	said, err := c.t.command(ctx, c.t.platform.save, nil)
	done.Saved = err == nil && !complaint.MatchString(said)
	return done, nil
}

// undo takes back what has happened, with the inverse lines, and looks whether that has worked.
func (c ios) undo(ctx context.Context, before configuration, happened change, why error) error {
	if happened.empty() {
		return fmt.Errorf("%w: %w", ErrUndone, why)
	}
	ctx, cancel := after(ctx)
	defer cancel()
	entered := c.enter(ctx, happened.inverse())
	now, err := c.running(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w; then: %w. It is not saved: a restart brings the old configuration back", ErrLeft, why, err)
	}
	left := difference(before, now)
	if left.empty() {
		return fmt.Errorf("%w: %w", ErrUndone, why)
	}
	return fmt.Errorf("%w: %w; what is left of it, and is not saved:\n%s", ErrLeft, errors.Join(why, entered), c.hide(left.String()))
}
