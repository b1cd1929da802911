package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/own"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/inject"
	"github.com/svc-gateway/svc/scanner/redact"
)

// Mode says after which answers a model is asked what to remember.
type Mode string

// The modes of capture.
const (
	Cued   Mode = "cued"   // those to words of the user that ask for it, and those after somebody's decision
	Always Mode = "always" // all, also those of sub-agents
	Never  Mode = "never"
)

// Config is what a keeper works with. Fields without a default are required.
type Config struct {
	Store   Store
	Audit   *audit.Log
	Log     *zap.Logger
	Queue   *Queue
	Secrets *redact.Secrets                     // values that are written nowhere; default: none
	Scan    func(text string) []scanner.Finding // for injections; default [inject.Scan]

	Recall   int           // memories that an agent is told of at most; default 8
	Capture  Mode          // default [Cued]
	Room     Room          // of a user; default [DefaultRoom]
	HalfLife time.Duration // after which a memory that was not learned again counts half as much; default 90 days
	Keep     time.Duration // after which one that was of no use is removed; default a year
	Embedder Embedder      // finds what means the same in other words; default: nobody does
	Now      func() time.Time

	// Since says from when on a name belongs to the user who has it now; zero: nobody knows. What is older was
	// somebody else's of that name, who was removed. Default: nobody knows.
	Since func(ctx context.Context, owner string) (time.Time, error)
}

// DefaultRoom bounds what a user has when nobody says otherwise.
var DefaultRoom = Room{Entries: 5000, Bytes: 2 << 20}

// Keeper is the memory of agents, and shows it to people. Make it with [New].
type Keeper struct {
	Config
	owners sync.Map     // name of an owner → since when that is the one whose memories there are
	rests  atomic.Int64 // until when the embedder is left alone, in nanoseconds since 1970
}

var _ agents.Memory = (*Keeper)(nil)

// New returns a keeper.
func New(c Config) *Keeper {
	if c.Scan == nil {
		c.Scan = inject.Scan
	}
	if c.Recall == 0 {
		c.Recall = 8
	}
	if c.Capture == "" {
		c.Capture = Cued
	}
	if c.Room == (Room{}) {
		c.Room = DefaultRoom
	}
	if c.HalfLife == 0 {
		c.HalfLife = 90 * 24 * time.Hour
	}
	if c.Keep == 0 {
		c.Keep = 365 * 24 * time.Hour
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Keeper{Config: c}
}

// meet makes sure that there is nothing under an owner's name that an earlier user of that name has left.
func (k *Keeper) meet(ctx context.Context, owner string) error {
	if k.Since == nil {
		return nil
	}
	since, err := k.Since(ctx, owner)
	if err != nil {
		return fmt.Errorf("looking for the user: %w", err)
	}
	if met, ok := k.owners.Load(owner); since.IsZero() || ok && met == since {
		return nil
	}
	n, err := k.Store.ClearMemories(ctx, owner, since)
	if err != nil {
		return err
	}
	k.owners.Store(owner, since)
	if n == 0 {
		return nil
	}
	output, err := text(map[string]any{"all_of": owner, "memories": n})
	if err != nil {
		return err
	}
	return errors.Join(k.erase(ctx, n), k.Audit.Queue(ctx, audit.Event{
		Type: audit.MemoryForgotten, Status: "success", Output: output, Reasons: []string{"owner: they belonged to a removed user of the same name"},
	}))
}

// MaxLimit is the most memories that are listed at once, and that are forgotten by their ids at once.
const MaxLimit = 1000

// List lists memories, the ones made last first. Without an owner these are the principal's own, for an admin
// everybody's. The error may be of the type [*agents.FieldError].
func (k *Keeper) List(ctx context.Context, p policy.Principal, f Filter) ([]Entry, error) {
	if f.Limit < 1 || f.Limit > MaxLimit {
		return nil, &agents.FieldError{Field: "limit", Message: fmt.Sprintf("must be from 1 to %d", MaxLimit)}
	}
	owner, ok := own.Listed(p, f.Owner)
	if !ok {
		return nil, k.foreign(ctx, p, f.Owner)
	}
	if f.Owner = owner; owner != "" {
		if err := k.meet(ctx, owner); err != nil {
			return nil, err
		}
	}
	return k.Store.Memories(ctx, f)
}

// Forget removes memories by their ids, and returns how many there were. Users forget their own; an admin
// forgets anybody's.
func (k *Keeper) Forget(ctx context.Context, p policy.Principal, ids []string) (n int, err error) {
	if len(ids) < 1 || len(ids) > MaxLimit {
		return 0, &agents.FieldError{Field: "ids", Message: fmt.Sprintf("must be from 1 to %d", MaxLimit)}
	}
	owner := own.Of(p)
	if p.Role == policy.Admin {
		owner = ""
	}
	return k.forget(ctx, own.Event(p, audit.MemoryForgotten), owner, ids)
}

// forget removes memories and puts their names on record, not what they said.
func (k *Keeper) forget(ctx context.Context, e audit.Event, owner string, ids []string) (n int, err error) {
	if e.Input, err = text(map[string]any{"ids": ids}); err != nil {
		return 0, err
	}
	err = k.Audit.Around(ctx, e, func(end *audit.Event) error {
		gone, err := k.Store.ForgetMemories(ctx, owner, ids)
		if err != nil {
			return err
		}
		type forgotten struct {
			ID    string `json:"id"`
			Owner string `json:"owner"`
		}
		list := make([]forgotten, len(gone))
		for i, g := range gone {
			list[i] = forgotten{g.ID, g.Owner}
		}
		n = len(gone)
		end.Output, err = text(map[string]any{"forgotten": list})
		return errors.Join(err, k.erase(ctx, n))
	})
	return n, err
}

// Clear forgets everything of an owner, and returns how many memories there were. Without an owner it is the
// principal's own. What agents have learned until then and is not written yet never will be.
func (k *Keeper) Clear(ctx context.Context, p policy.Principal, owner string) (n int, err error) {
	if owner == "" {
		owner = own.Of(p)
	}
	if !own.Sees(p, owner) {
		return 0, k.foreign(ctx, p, owner) // the same answer as for somebody without memories
	}
	e := own.Event(p, audit.MemoryForgotten)
	if e.Input, err = text(map[string]any{"all_of": owner}); err != nil {
		return 0, err
	}
	err = k.Audit.Around(ctx, e, func(end *audit.Event) error {
		if err = k.Queue.clear(owner, func() error {
			n, err = k.Store.ClearMemories(ctx, owner, time.Time{})
			return err
		}); err != nil {
			return err
		}
		end.Output, err = text(map[string]any{"memories": n})
		return errors.Join(err, k.erase(ctx, n))
	})
	return n, err
}

// erase has nothing be left of what was forgotten. That it takes longer, because others read, is no failure:
// the next checkpoint of the database does it.
func (k *Keeper) erase(ctx context.Context, n int) error {
	if n == 0 {
		return nil
	}
	if err := k.Store.EraseMemories(ctx); err != nil {
		k.Log.Warn("what was forgotten is still in the database's write-ahead log, until its next checkpoint", zap.Error(err))
	}
	return nil
}

// Show is a memory as it may be shown: without secrets that were registered since it was written.
func (k *Keeper) Show(e Entry) Entry {
	e.Text = k.Secrets.Redact(e.Text)
	return e
}

// foreign records that a principal named somebody else as the owner.
func (k *Keeper) foreign(ctx context.Context, p policy.Principal, owner string) error {
	return own.Foreign(ctx, k.Audit, p, "the memory of", owner)
}

// text is a value as a record has it.
func text(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}
