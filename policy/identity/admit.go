package identity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
)

// Admit lets somebody in whom an outside source vouches for, and returns who that is here. The
// first time an account is made for them, named [External.Name] with what a user name cannot
// hold replaced by hyphens; it keeps that name. A name that belongs to another account, or would
// but for capitals, is taken. Role and groups are those of x, always.
//
// The errors are [ErrNoRole], [ErrNameTaken], [ErrRevoked] (the account is disabled, or
// everything from before x.Issued is ended), [ErrExpired], [ErrInvalid] (no user name can be
// made of x), or technical.
func (s *Service) Admit(ctx context.Context, x External) (policy.Principal, error) {
	if x.Role == "" {
		return policy.Principal{}, ErrNoRole
	}
	if err := x.check(); err != nil {
		return policy.Principal{}, err
	}
	now := time.Now()
	issued, expires := precise(x.Issued), precise(x.Expires)
	if issued.IsZero() {
		issued = precise(now)
	}
	if !expires.IsZero() && !now.Before(expires) {
		return policy.Principal{}, ErrExpired
	}
	if err := s.fresh(ctx, now); err != nil {
		return policy.Principal{}, err
	}
	a, err := s.linked(ctx, x, issued)
	if err != nil {
		return policy.Principal{}, err
	}
	if err := errors.Join(a.live(now), a.accepts(issued)); err != nil {
		return policy.Principal{}, err
	}
	s.used.noteLogin(a, x.Role, now)
	return policy.Principal{
		User: a.Name, Role: x.Role, Groups: x.Groups, Source: x.Source,
		Issued: issued, Expires: earlier(expires, a.Expires),
	}, nil
}

func (x *External) link() Link { return Link{x.Source, x.Issuer, x.Subject} }

// check refuses what no source may say.
func (x *External) check() error {
	switch x.Source {
	case policy.SourceLDAP, policy.SourceOIDC, policy.SourceCertificate:
	default:
		return fmt.Errorf("%w: source: %q is not one of external users", ErrInvalid, x.Source)
	}
	if x.Subject == "" {
		return fmt.Errorf("%w: subject: it is empty, so that nobody could be recognised by it", ErrInvalid)
	}
	return checkRole(x.Role)
}

// userName makes a name for a new account of what the source calls the user.
func (x *External) userName() (string, error) {
	if checkUserName(x.Name) == nil {
		return x.Name, nil
	}
	var b strings.Builder
	for _, r := range x.Name {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', strings.ContainsRune("._@-", r):
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	name := strings.Trim(b.String(), "._@-")
	if err := checkUserName(name); err != nil {
		return "", fmt.Errorf("%w: name: no user name can be made of %q; have the source send another one", ErrInvalid, x.Name)
	}
	return name, nil
}

// nameOf returns the name of the account to be made: that of a removed one for ever.
func (x *External) nameOf(removed *account, issued time.Time) (string, error) {
	if removed == nil {
		return x.userName()
	}
	// What is from before the removal does not undo it.
	return removed.Name, removed.accepts(issued)
}

// linked returns the account of x, which it makes when there is none.
func (s *Service) linked(ctx context.Context, x External, issued time.Time) (*account, error) {
	a, err := s.cache.link(x.link()), error(nil)
	if a == nil {
		a, err = s.account(s.store.ByLink(ctx, x.link()))
	}
	if err != nil {
		return nil, err
	}
	if a != nil && a.Removed.IsZero() {
		return a, nil
	}
	name, err := x.nameOf(a, issued)
	if err != nil {
		return nil, err
	}
	if err := s.addAccount(ctx, name, x); err != nil && !errors.Is(err, ErrConflict) {
		return nil, err
	}
	// In case of a conflict another request of the same person may have been first.
	if a, err = s.account(s.store.ByLink(ctx, x.link())); err != nil {
		return nil, err
	}
	if a == nil {
		return nil, fmt.Errorf("%w: %s", ErrNameTaken, name)
	}
	return a, nil
}

// addAccount makes an external account, on record before it is there.
func (s *Service) addAccount(ctx context.Context, name string, x External) error {
	taken, err := s.account(s.store.ByName(ctx, name))
	if err != nil {
		return err
	}
	u := User{Name: name, Role: x.Role, Created: precise(time.Now()), Link: x.link()}
	input, err := json.Marshal(struct {
		User *User `json:"user"`
	}{&u})
	if err != nil {
		return fmt.Errorf("recording an account: %w", err)
	}
	e := audit.Event{Type: audit.AccountCreated, Action: x.Source, User: name, Role: string(x.Role), Input: string(input)}
	if taken != nil && taken.Link != u.Link {
		e.Status, e.Error = "denied", ErrNameTaken.Error()
		return errors.Join(fmt.Errorf("%w: %s", ErrNameTaken, name), s.outcome(ctx, e))
	}
	e.Status = "started"
	if err := s.log.Record(ctx, e); err != nil {
		return fmt.Errorf("recording an account: %w", err)
	}
	revision, err := s.store.AddAccount(ctx, u)
	if err != nil {
		e.Status, e.Error = "error", err.Error()
		return errors.Join(err, s.outcome(ctx, e))
	}
	if revision > s.cache.revision.Load() {
		s.announce(ctx, revision)
	}
	e.Status = "success"
	_ = s.outcome(ctx, e) // the account is there and its making on record
	return nil
}

// account remembers the user that the store answered with, a removed one included; nil when there
// is none. The caller has made sure that the cache is fresh.
func (s *Service) account(c Credential, err error) (*account, error) {
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	s.learn(c.Revision)
	a := &account{User: c.User}
	a.seen.Store(a.LastLogin.Unix())
	s.cache.putAccount(a, c.Revision)
	return a, nil
}

// named returns the account of that name, removed or not; nil when there is none.
func (s *Service) named(ctx context.Context, name string) (*account, error) {
	if a := s.cache.name(name); a != nil {
		return a, nil
	}
	return s.account(s.store.ByName(ctx, name))
}
