package device

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// junos changes a candidate, which nobody else can change meanwhile, and commits it so that the device goes
// back by itself when it is not confirmed.
type junos struct {
	t    *session
	hide func(string) string
}

// window is the minutes after which an unconfirmed commit is taken back.
const window = "2"

// look says how to find out what a device has done that did not answer.
const look = "look then, with show system commit"

// candidate makes a candidate of lines, one of its own with the mode private, and returns how it differs from
// the running configuration. The session is in the configuration mode then, also with an error.
func (c junos) candidate(ctx context.Context, mode, lines string) (diff string, err error) {
	said, err := c.t.command(ctx, "configure "+mode, nil)
	if err != nil {
		return "", err
	}
	if !strings.HasSuffix(strings.TrimSpace(c.t.last), "#") {
		return "", fmt.Errorf("%w: configure %s: %s", ErrRefused, mode, strings.Join(strings.Fields(c.hide(said)), " "))
	}
	for _, l := range readLines(lines) {
		said, err := c.t.command(ctx, l.text(), nil)
		if err != nil {
			return "", err
		}
		if complaint.MatchString(said) {
			return "", fmt.Errorf("%w: the line %q: %s", ErrRefused, c.hide(l.text()), strings.Join(strings.Fields(c.hide(said)), " "))
		}
	}
	if diff, err = c.compare(ctx, "show | compare"); err == nil && diff == "" {
		err = ErrNothing
	}
	return diff, err
}

// compare asks for a difference. What stands around it in the configuration mode is none of it.
func (c junos) compare(ctx context.Context, command string) (string, error) {
	said, err := c.t.command(ctx, command, nil)
	return strings.TrimSuffix(flat(said), "[edit]\n"), err
}

// leave gives the candidate up and leaves the configuration mode.
func (c junos) leave(ctx context.Context) error {
	ctx, cancel := after(ctx)
	defer cancel()
	for _, line := range []string{"rollback 0", "exit"} {
		if _, err := c.t.command(ctx, line, nil); err != nil {
			return err // the connection ends, and the candidate with it
		}
	}
	return nil
}

func (c junos) plan(ctx context.Context, lines string) (string, error) {
	diff, err := c.candidate(ctx, "private", lines)
	return diff, errors.Join(err, c.leave(ctx))
}

func (c junos) apply(ctx context.Context, lines, diff string) (done Done, err error) {
	is, err := c.candidate(ctx, "exclusive", lines)
	if err == nil && !same(c.hide, is, diff) {
		err = other(c.hide, is)
	}
	if err != nil {
		return done, errors.Join(err, c.leave(ctx))
	}
	err = c.commit(ctx, "commit confirmed "+window)
	switch {
	case errors.Is(err, ErrRefused):
		return done, errors.Join(fmt.Errorf("%w: %w", ErrUndone, err), c.leave(ctx))
	case err != nil:
		return done, fmt.Errorf("%w: commit confirmed was sent, and then: %w. If the device has committed, it takes that back after %s minutes by itself: %s", ErrUnsure, err, window, look)
	}
	happened, err := c.compare(ctx, "run show configuration | compare rollback 1")
	switch {
	case err != nil:
		return done, fmt.Errorf("the change is committed, and was not looked at: %w. It is not confirmed, and the device takes it back after %s minutes", err, window)
	case !same(c.hide, happened, diff):
		return done, c.undo(ctx, fmt.Errorf("the device did something else:\n%s", c.hide(happened)))
	}
	err = c.commit(ctx, "commit")
	switch {
	case errors.Is(err, ErrRefused):
		return done, fmt.Errorf("the change could not be confirmed: %w. The device takes it back after %s minutes", err, window)
	case err != nil:
		return done, fmt.Errorf("%w: it is committed and is as it was to be, the commit that confirms it was sent, and then: %w. If that did not arrive, the device takes the change back after %s minutes by itself: %s", ErrUnsure, err, window, look)
	}
	_ = c.leave(ctx) // the change is made, however the session ends
	return Done{Diff: happened, Saved: true}, nil
}

// commit commits the candidate. The error is ErrRefused when the device says that it has not; with others it may
// have.
func (c junos) commit(ctx context.Context, line string) error {
	said, err := c.t.command(ctx, line, nil)
	complains, complete := complaint.MatchString(said), strings.Contains(said, "commit complete")
	switch text := strings.Join(strings.Fields(c.hide(said)), " "); {
	case err != nil || complete && !complains:
		return err
	case complains && !complete:
		return fmt.Errorf("%w: %s: %s", ErrRefused, line, text)
	default:
		return fmt.Errorf("it said %q to %s", text, line)
	}
}

// undo goes back to the configuration before the commit.
func (c junos) undo(ctx context.Context, why error) error {
	ctx, cancel := after(ctx)
	defer cancel()
	said, err := c.t.command(ctx, "rollback 1", nil)
	if err == nil && complaint.MatchString(said) { // a commit would confirm the change
		err = fmt.Errorf("%w: rollback 1: %s", ErrRefused, strings.Join(strings.Fields(c.hide(said)), " "))
	}
	if err == nil {
		err = c.commit(ctx, "commit")
	}
	if err != nil {
		return fmt.Errorf("%w; the device takes the change back after %s minutes by itself: %w", why, window, err)
	}
	return errors.Join(fmt.Errorf("%w: %w", ErrUndone, why), c.leave(ctx))
}
