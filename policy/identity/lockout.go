package identity

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/svc-gateway/svc/audit"
)

// Lockout is a time in which passwords are not tried, right or wrong. At least one of User and
// Address is set.
type Lockout struct {
	// User is a name as somebody typed it, in the form of [FoldName], whether there is such a user
	// or not. Empty: whoever it is.
	User string `json:"user,omitempty"`
	// Address is in the form of [FoldAddress]. Empty: all but those that the user was let in from
	// before.
	Address string    `json:"address,omitempty"`
	Since   time.Time `json:"since"`
	Until   time.Time `json:"until"`
	Times   int       `json:"times"` // how often in a row; each lasts twice as long as the one before
}

const (
	firstLockout   = 15 * time.Minute
	longestLockout = 24 * time.Hour
	// lockoutMemory is how long after its end a lockout makes the next one longer.
	lockoutMemory = 24 * time.Hour
	// familiarFor is how long an address counts as the user's own after they were let in from it.
	familiarFor = 90 * 24 * time.Hour
)

// LockoutStore is the part of a [Store] that keeps lockouts. Nothing of it counts as a change
// of the users: the revision stays.
type LockoutStore interface {
	// Standing returns what is known of the user at the address; the lockouts by user and
	// address, of which at least one is not empty.
	Standing(ctx context.Context, user, address string) (Standing, error)
	// Lockouts returns the lockouts that last longer than t, by user and address.
	Lockouts(ctx context.Context, t time.Time) ([]Lockout, error)
	// PutLockout makes a lockout durable. It replaces the one of the same user and address.
	// Lockouts that ended before forget are dropped.
	PutLockout(ctx context.Context, l Lockout, forget time.Time) error
	// RemoveLockouts drops the lockouts of exactly these users and addresses, durably.
	RemoveLockouts(ctx context.Context, l ...Lockout) error
	// Familiar returns when who was noted at the address last, zero for never, and whether
	// anything is known of who at all.
	Familiar(ctx context.Context, who, address string) (last time.Time, known bool, err error)
	// NoteFamiliar notes, durably, that who, a user or token, was let in from the address at the
	// time t. What was noted before forget is dropped.
	NoteFamiliar(ctx context.Context, who, address string, t, forget time.Time) error
}

// Standing is what is known of a user at an address.
type Standing struct {
	Lockouts []Lockout // of the user, of the address and of both, ended ones included
	Familiar time.Time // when the user was let in from there last; zero: never
}

// Lockouts returns the lockouts that last, by user and address.
func (s *Service) Lockouts(ctx context.Context) ([]Lockout, error) {
	list, err := s.store.Lockouts(ctx, time.Now())
	if err != nil {
		return nil, fmt.Errorf("listing lockouts: %w", err)
	}
	return list, nil
}

// Unlock ends the lockouts of a user at all addresses, or all those of an address, and returns
// them; none is no error. It is recorded as an administrative change.
func (s *Service) Unlock(ctx context.Context, actor Actor, who string) ([]Lockout, error) {
	if err := s.RequireAdmin(ctx, actor, "unlock", who); err != nil {
		return nil, fmt.Errorf("unlocking: %w", err)
	}
	all, err := s.Lockouts(ctx)
	if err != nil {
		return nil, fmt.Errorf("unlocking: %w", err)
	}
	user, address := FoldName(who), FoldAddress(who)
	var list []Lockout
	for _, l := range all {
		if l.User == user || l.User == "" && l.Address == address {
			list = append(list, l)
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	e, err := unlockEvent(actor, who, list)
	if err != nil {
		return nil, fmt.Errorf("unlocking: %w", err)
	}
	if err := s.log.Record(ctx, e); err != nil {
		return nil, fmt.Errorf("recording unlock: %w", err)
	}
	if err := s.endLockouts(ctx, list); err != nil {
		e.Status, e.Error = "error", err.Error()
		_ = s.outcome(ctx, e) // the caller learns what went wrong
		return nil, fmt.Errorf("unlocking: %w", err)
	}
	e.Status = "success"
	_ = s.outcome(ctx, e) // it is done, and its intent on record
	return list, nil
}

func (s *Service) endLockouts(ctx context.Context, list []Lockout) error {
	for _, l := range list {
		if err := (attempt{l.User, l.Address}).forget(ctx, s.bus); err != nil {
			return err
		}
	}
	return s.store.RemoveLockouts(ctx, list...)
}

func unlockEvent(actor Actor, who string, list []Lockout) (audit.Event, error) {
	doc, err := json.Marshal(struct {
		User   string    `json:"user"`
		Before []Lockout `json:"before"`
	}{who, list})
	return audit.Event{
		Type: audit.Admin, Action: "unlock", Input: string(doc), Status: "started",
		User: actor.User, Role: string(actor.Role), OnBehalfOf: actor.OnBehalfOf,
		Address: actor.Address, TokenID: actor.TokenID,
	}, err
}
