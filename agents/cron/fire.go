package cron

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/own"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
)

// Starter starts the run of a cron for a principal, who is as of now. It returns the ids of the run and
// of its thread.
type Starter interface {
	StartCron(ctx context.Context, p policy.Principal, c Cron) (run, thread string, err error)
}

const (
	lookEvery = time.Second
	batch     = 100              // crons that are looked at a time
	fireTime  = 30 * time.Second // for the start of one run
)

// errDemoted is why a cron of somebody has no run who may do less than when it was made.
var errDemoted = errors.New("the cron's user has a weaker role than when it was made")

// fireAgain starts what is due until the table is closed.
func (t *Table) fireAgain() {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if err := t.Fire(t.base); err != nil && t.base.Err() == nil {
			t.Log.Warn("starting what is due failed, trying again", zap.Error(err))
		}
		select {
		case <-t.base.Done():
			return
		case <-tick.C:
		}
	}
}

// Fire starts the runs of all crons that are due.
func (t *Table) Fire(ctx context.Context) error {
	for ctx.Err() == nil {
		s := t.starter()
		if s == nil {
			return nil
		}
		due, err := t.Store.DueCrons(ctx, t.now(), batch)
		if err != nil || len(due) == 0 {
			return err
		}
		for _, c := range due {
			if err := t.fire(ctx, s, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// fire moves a cron on to its next time and starts its run, unless somebody else was faster.
func (t *Table) fire(ctx context.Context, s Starter, c Cron) error {
	now, due := t.now(), c.Next
	if err := c.schedule(now); err != nil { // it was fine when it was kept; another version may think otherwise
		c.Enabled, c.Next = false, time.Time{}
	}
	c.Last = Outcome{Due: due, Status: Starting}
	switch err := t.Store.SaveCron(ctx, &c); {
	case errors.Is(err, ErrConflict):
		return nil
	case err != nil:
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fireTime) // what has begun is seen through
	defer cancel()
	p, err := t.start(ctx, s, &c, now)
	c.Last.Status, c.Last.Code = outcome(err)
	if c.Last.Status == Failed {
		t.Log.Warn("starting the run of a cron failed", zap.String("cron", c.ID), zap.Error(err))
	}
	return errors.Join(t.record(ctx, p, &c), t.settle(ctx, c))
}

// start starts the run of a cron for who it acts for now.
func (t *Table) start(ctx context.Context, s Starter, c *Cron, now time.Time) (policy.Principal, error) {
	if !c.End.IsZero() && now.After(c.End) {
		return c.Principal, errOver
	}
	p, err := t.Identity.Resolve(ctx, c.Principal)
	if err != nil {
		return c.Principal, err
	}
	if p.Role != c.Principal.Role && policy.Weaker(p.Role, c.Principal.Role) == p.Role {
		return p, errDemoted
	}
	c.Last.Run, c.Last.Thread, err = s.StartCron(ctx, p, *c)
	return p, err
}

// errOver is why there is no run when the service was away at a cron's last time and it has ended since.
var errOver = errors.New("the cron's end has passed")

// outcome is what becomes of a time of the schedule by the error of starting its run, with the code.
func outcome(err error) (Status, string) {
	for _, o := range []struct {
		err    error
		status Status
		code   string
	}{
		{nil, Started, ""},
		{policy.ErrRevoked, Refused, "principal_revoked"},
		{policy.ErrExpired, Refused, "principal_expired"},
		{errDemoted, Refused, "principal_demoted"},
		{agents.ErrInactiveUser, Refused, "inactive_user"},
		{agents.ErrForbidden, Refused, "forbidden"},
		{agents.ErrUnknownAssistant, Refused, "unknown_assistant"},
		{agents.ErrThreadNotFound, Refused, "thread_not_found"},
		{agents.ErrThreadFull, Refused, "thread_full"},
		{agents.ErrWebhook, Refused, "webhook_forbidden"},
		{errOver, Skipped, "over"},
		{agents.ErrBusy, Skipped, "thread_busy"},
		{agents.ErrTooManyRuns, Skipped, "too_many_runs"},
		{agents.ErrStopping, Skipped, "stopping"},
		{agents.ErrUnavailable, Failed, "unavailable"},
	} {
		if errors.Is(err, o.err) {
			return o.status, o.code
		}
	}
	return Failed, "internal"
}

// record writes what became of a time of the schedule.
func (t *Table) record(ctx context.Context, p policy.Principal, c *Cron) error {
	input := map[string]any{"cron": c.ID, "due": c.Last.Due.Format(audit.TimeFormat), "schedule": c.Schedule}
	text, _ := json.Marshal(input) // of strings
	e := own.Event(p, audit.Cron)
	e.Run, e.Thread, e.Input, e.Status = c.Last.Run, c.Last.Thread, string(text), string(c.Last.Status)
	if c.Last.Code != "" {
		e.Reasons = []string{c.Last.Code}
	}
	if c.Last.Status == Refused {
		e.Decision = string(policy.Deny)
	}
	return t.Audit.Queue(ctx, e)
}

// settle keeps what became of a time of the schedule. A cron that may not be run is switched off, unless
// somebody has changed it meanwhile: then it is tried with the change.
func (t *Table) settle(ctx context.Context, c Cron) error {
	last := c.Last
	if last.Status == Refused {
		c.Enabled, c.Next = false, time.Time{}
	}
	for range attempts {
		err := t.Store.SaveCron(ctx, &c)
		if !errors.Is(err, ErrConflict) {
			return err
		}
		if c, err = t.Store.Cron(ctx, c.ID); errors.Is(err, ErrNotFound) {
			return nil // somebody has deleted it
		} else if err != nil || c.Last.Due.After(last.Due) { // its next time has come meanwhile
			return err
		}
		c.Last = last
	}
	return nil
}
