package identity

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
)

// change is an administrative change on its way.
type change struct {
	typ    string // type of the audit record; empty is [audit.Admin]
	action string // for the audit log, such as add-user
	user   string // whom it is about
	own    bool   // the user itself may do it too
	plan   func(state) (Change, error)
}

// state is what a change is decided on.
type state struct {
	now      time.Time
	revision int64
	account  *Account        // of the user; nil when there is none
	removed  bool            // there was one
	sessions []StoredSession // live ones of the user
}

// attempts is how often a change is decided again when others were first: sessions that end
// count as changes too.
const attempts = 5

// change makes a change. Each attempt decides on the state as it is then.
func (s *Service) change(ctx context.Context, actor Actor, c change) error {
	if err := s.authorise(ctx, actor, c); err != nil {
		return err
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	err := s.changeOnce(ctx, actor, c)
	for i := 1; i < attempts && errors.Is(err, ErrConflict); i++ {
		err = s.changeOnce(ctx, actor, c)
	}
	return err
}

// changeOnce decides a change on the current state, records it durably and applies it, in this
// order. A change that the plan or refuseLastAdmin refuses is not recorded: nothing was going to
// happen.
func (s *Service) changeOnce(ctx context.Context, actor Actor, c change) error {
	st, err := s.state(ctx, c.user)
	if err != nil {
		return err
	}
	todo, err := c.plan(st)
	if err != nil {
		return err
	}
	todo.Revision = st.revision
	if err := s.refuseLastAdmin(ctx, st, todo); err != nil {
		return err
	}
	e, err := event(actor, c, &st, todo)
	if err != nil {
		return err
	}
	e.Status = "started"
	if err := s.log.Record(ctx, e); err != nil {
		return fmt.Errorf("recording %s: %w", c.action, err)
	}
	revision, err := s.store.Apply(ctx, todo)
	if err != nil {
		e.Status, e.Error = "error", err.Error()
		return errors.Join(err, s.outcome(ctx, e))
	}
	s.announce(ctx, revision)
	e.Status = "success"
	// The change is made and its intent on record: an outcome that cannot be recorded must not
	// cost the caller a token that is shown only once.
	_ = s.outcome(ctx, e)
	return nil
}

// outcomeWait is how long an outcome waits for a log that cannot be written.
const outcomeWait = 5 * time.Second

// outcome records how a change ended. It was made, or not, whatever becomes of the caller.
func (s *Service) outcome(ctx context.Context, e audit.Event) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), outcomeWait)
	defer cancel()
	if err := s.log.Queue(ctx, e); err != nil {
		return fmt.Errorf("recording the outcome of %s: %w", e.Action, err)
	}
	return nil
}

// RequireAdmin returns nil when the actor may manage users. Otherwise it returns an [ErrForbidden]
// and records what they tried: the action, and the user whom it is about, if any.
func (s *Service) RequireAdmin(ctx context.Context, actor Actor, action, user string) error {
	return s.authorise(ctx, actor, change{action: action, user: user})
}

// authorise refuses actors that are no admins, and records that they tried.
func (s *Service) authorise(ctx context.Context, actor Actor, c change) error {
	if actor.User != "" && (actor.Role.May(policy.AdminAction) || c.own && actor.User == c.user) {
		return nil
	}
	reason := fmt.Sprintf("permission: role %s may not admin", actor.Role)
	e, err := event(actor, c, &state{}, Change{})
	if err != nil {
		return err
	}
	e.Decision, e.Rule, e.Reasons, e.Status = string(policy.Deny), policy.RulePermission, []string{reason}, "denied"
	err = fmt.Errorf("%w: managing users needs the role admin", ErrForbidden)
	return errors.Join(err, s.outcome(ctx, e))
}

func (s *Service) state(ctx context.Context, user string) (state, error) {
	accounts, revision, err := s.store.Accounts(ctx, Filter{Name: user})
	if err != nil {
		return state{}, err
	}
	st := state{now: time.Now().UTC().Truncate(time.Microsecond), revision: revision}
	if len(accounts) == 0 {
		return st, nil
	}
	if !accounts[0].Removed.IsZero() {
		st.removed = true
		return st, nil
	}
	st.account = &accounts[0]
	st.sessions, err = s.store.Sessions(ctx, SessionFilter{User: user}, st.now)
	return st, err
}

// refuseLastAdmin refuses to take the last working token from the last admin.
func (s *Service) refuseLastAdmin(ctx context.Context, st state, todo Change) error {
	before := st.account
	if before == nil || !before.administers(st.now) {
		return nil
	}
	after := before.with(todo)
	ending := before.Expires.IsZero() && !after.Expires.IsZero() // nobody would be left then
	if after.administers(st.now) && !ending {
		return nil
	}
	admins, _, err := s.store.Accounts(ctx, Filter{Role: policy.Admin})
	if err != nil {
		return err
	}
	if slices.ContainsFunc(admins, func(a Account) bool { return a.Name != before.Name && a.administers(st.now) }) {
		return nil
	}
	return fmt.Errorf("%w is %s: rotate the token instead, or make another admin first", ErrLastAdmin, before.Name)
}

// with returns the account as it will be after the change.
func (a *Account) with(c Change) Account {
	after := *a
	for _, u := range c.Users {
		after.User = u
	}
	after.Tokens = slices.Clone(a.Tokens)
	for _, t := range c.Tokens {
		if i := slices.IndexFunc(after.Tokens, func(o Token) bool { return o.ID == t.ID }); i >= 0 {
			after.Tokens[i] = t
		}
	}
	for _, t := range c.NewTokens {
		after.Tokens = append(after.Tokens, t.Token)
	}
	return after
}

// event is the audit record of a change: who, what, and the rows before and after.
func event(actor Actor, c change, st *state, todo Change) (audit.Event, error) {
	type rows struct {
		User   *User   `json:"user,omitempty"`
		Tokens []Token `json:"tokens,omitempty"`
	}
	input := struct {
		User   string    `json:"user"`
		Before *rows     `json:"before,omitempty"`
		After  *rows     `json:"after,omitempty"`
		Ended  []Session `json:"ended_sessions,omitempty"`
	}{User: c.user, Ended: st.ended(todo)}
	var after rows
	for _, u := range todo.Users {
		after.User = &u
	}
	after.Tokens = slices.Clone(todo.Tokens)
	for _, t := range todo.NewTokens {
		after.Tokens = append(after.Tokens, t.Token)
	}
	if after.User != nil || after.Tokens != nil {
		input.After = &after
	}
	if st.account != nil && input.After != nil {
		input.Before = &rows{}
		if after.User != nil {
			input.Before.User = &st.account.User
		}
		for _, t := range st.account.Tokens {
			if slices.ContainsFunc(todo.Tokens, func(o Token) bool { return o.ID == t.ID }) {
				input.Before.Tokens = append(input.Before.Tokens, t)
			}
		}
	}
	doc, err := json.Marshal(input)
	if err != nil {
		return audit.Event{}, fmt.Errorf("recording %s: %w", c.action, err)
	}
	return audit.Event{
		Type: cmp.Or(c.typ, audit.Admin), Action: c.action, Input: string(doc),
		User: actor.User, Role: string(actor.Role), OnBehalfOf: actor.OnBehalfOf,
		Address: actor.Address, TokenID: actor.TokenID,
	}, nil
}
