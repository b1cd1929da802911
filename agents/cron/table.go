package cron

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/own"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
)

// Config is what a table works with. Every field is required but Now.
type Config struct {
	Store    Store
	Audit    *audit.Log
	Identity agents.Identity
	Log      *zap.Logger
	Now      func() time.Time // default time.Now
}

// Table is where crons are kept and from where their runs are started. Make it with [Open].
type Table struct {
	Config
	base context.Context // of what goes on by itself; ends with Close
	stop context.CancelFunc
	work sync.WaitGroup
	look sync.Once // starts looking for what is due

	mu     sync.Mutex
	serves []*Starter // the last one counts
	closed bool
}

// Open returns a table. It starts no run until [Table.Serve].
func Open(c Config) *Table {
	if c.Now == nil {
		c.Now = time.Now
	}
	t := &Table{Config: c}
	t.base, t.stop = context.WithCancel(context.Background())
	return t
}

// Create keeps a cron of the principal's and returns it with its id and when it is due.
func (t *Table) Create(ctx context.Context, p policy.Principal, c Cron) (Cron, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return c, fmt.Errorf("making an id: %w", err)
	}
	now := t.now()
	c.ID, c.Owner, c.Principal, c.Created, c.Updated, c.Last, c.Version = id.String(), own.Of(p), lasting(p), now, now, Outcome{}, 1
	if err := check(&c, now); err != nil {
		return c, err
	}
	return c, t.Store.CreateCron(ctx, c, MaxCrons)
}

// lasting is a principal without what was of one request.
func lasting(p policy.Principal) policy.Principal {
	p.RequestID = ""
	return p
}

func (t *Table) now() time.Time { return t.Now().UTC().Truncate(time.Millisecond) }

// check says what is wrong with a cron, and fills in when it is due.
func check(c *Cron, now time.Time) error {
	if len(c.Payload) > MaxPayload {
		return &agents.FieldError{Field: "input", Message: fmt.Sprintf("what a run is started with must not be larger than %d bytes", MaxPayload)}
	}
	if doc, err := json.Marshal(c.Metadata); err != nil || len(doc) > MaxMetadata {
		return &agents.FieldError{Field: "metadata", Message: fmt.Sprintf("must not be larger than %d bytes", MaxMetadata)}
	}
	if c.Enabled && !c.End.IsZero() && !now.Before(c.End) {
		return &agents.FieldError{Field: "end_time", Message: "is over; give a time to come, or leave it out for a cron without an end"}
	}
	return c.schedule(now)
}

// Get finds a cron that the principal sees. The error is [ErrNotFound].
func (t *Table) Get(ctx context.Context, p policy.Principal, id string) (Cron, error) {
	parsed, err := uuid.Parse(id)
	if err != nil {
		return Cron{}, ErrNotFound
	}
	c, err := t.Store.Cron(ctx, parsed.String())
	if err == nil && !own.Sees(p, c.Owner) {
		return Cron{}, errors.Join(ErrNotFound, own.Foreign(ctx, t.Audit, p, "cron", c.ID))
	}
	return c, err
}

// Patch changes a cron. Fields that are nil stay; names of the metadata are put beside those that there
// are.
type Patch struct {
	Schedule *string
	Timezone *string
	End      *time.Time // zero: there is no end
	Enabled  *bool
	Keep     *bool
	Payload  func(Cron) (json.RawMessage, error) // makes the new one
	Metadata map[string]any
}

func (p *Patch) apply(c *Cron) (err error) {
	if p.Schedule != nil {
		c.Schedule = *p.Schedule
	}
	if p.Timezone != nil {
		c.Timezone = *p.Timezone
	}
	if p.End != nil {
		c.End = *p.End
	}
	if p.Enabled != nil {
		c.Enabled = *p.Enabled
	}
	if p.Keep != nil {
		c.Keep = *p.Keep
	}
	if p.Metadata != nil {
		c.Metadata = maps.Clone(c.Metadata)
		if c.Metadata == nil {
			c.Metadata = map[string]any{}
		}
		maps.Copy(c.Metadata, p.Metadata)
	}
	if p.Payload != nil {
		c.Payload, err = p.Payload(*c)
	}
	return err
}

// attempts is how often a change is tried that others were faster with.
const attempts = 10

// Update changes a cron; its next time is counted from now. When its owner changes it, its runs act for the
// owner as of now, with the credential of this change. An admin's change of another's cron leaves whom
// they act for.
func (t *Table) Update(ctx context.Context, p policy.Principal, id string, patch Patch) (Cron, error) {
	for range attempts {
		c, err := t.Get(ctx, p, id)
		if err != nil {
			return c, err
		}
		if err := patch.apply(&c); err != nil {
			return c, err
		}
		c.Updated = t.now()
		if own.Of(p) == c.Owner {
			c.Principal = lasting(p)
		}
		if err := check(&c, c.Updated); err != nil {
			return c, err
		}
		if err := t.Store.SaveCron(ctx, &c); !errors.Is(err, ErrConflict) {
			return c, err
		}
	}
	return Cron{}, ErrConflict
}

// Delete removes a cron. Runs that it has started go on.
func (t *Table) Delete(ctx context.Context, p policy.Principal, id string) error {
	c, err := t.Get(ctx, p, id)
	if err != nil {
		return err
	}
	return t.Store.DeleteCron(ctx, c.ID)
}

// Serve has runs started by a starter until the release is called; then the one before it counts again.
// What is due is looked for now, and from time to time.
func (t *Table) Serve(s Starter) (release func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.serves = append(t.serves, &s)
	if !t.closed {
		t.look.Do(func() { t.work.Go(t.fireAgain) })
	}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.serves = slices.DeleteFunc(t.serves, func(o *Starter) bool { return o == &s })
	}
}

// starter is what starts runs now; nil while nobody serves.
func (t *Table) starter() Starter {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.serves); n > 0 {
		return *t.serves[n-1]
	}
	return nil
}

// Close ends what the table does by itself. It goes on to answer.
func (t *Table) Close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.stop()
	t.work.Wait()
}
