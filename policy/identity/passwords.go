package identity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
)

const (
	maxUserName = 128  // bytes of a user name that is tried
	maxPassword = 1024 // bytes of a password that is tried

	// refusalAfter is when a wrong password is answered at the earliest, counted from its
	// arrival. It is longer than what directories need, so that the time of an answer tells
	// nothing of what was wrong.
	refusalAfter = 300 * time.Millisecond
	// turnWait is how long an attempt waits for its turn, and checkTimeout how long it may take
	// then.
	turnWait     = 20 * time.Second
	checkTimeout = 30 * time.Second
)

// Passwords lets people in by user name and password. The zero value is not usable; values may
// be copied.
type Passwords struct {
	Service   *Service
	Directory Directory
}

// Check returns who the user is, with an account here. Failures are counted by user and by
// address; where there were too many the password is not tried ([Service.Lockouts]). address is
// the client's; see [WithAddress]. The error is a [*Refused], which does not tell whether there
// is such a user, or technical. A refusal is recorded, unless nothing was tried.
func (p Passwords) Check(ctx context.Context, user, password, address string) (policy.Principal, error) {
	begun := time.Now()
	principal, err := p.check(ctx, user, password, address)
	refused, ok := errors.AsType[*Refused](err)
	if !ok || refused.Status == http.StatusTooManyRequests {
		principal.Address = address
		return principal, err
	}
	err = p.Service.log.Queue(context.WithoutCancel(ctx), audit.Event{
		Type: audit.LoginFailed, Action: policy.SourceLDAP, User: FoldName(user), Address: address,
		Status: "denied", Reasons: []string{refused.Reason},
	})
	if err != nil {
		return policy.Principal{}, fmt.Errorf("recording a failed login: %w", err)
	}
	if refused == errWrongPassword {
		select {
		case <-time.After(time.Until(begun.Add(refusalAfter))):
		case <-ctx.Done():
		}
	}
	return policy.Principal{}, refused
}

func (p Passwords) check(ctx context.Context, user, password, address string) (policy.Principal, error) {
	a := attempt{FoldName(user), cmp.Or(FoldAddress(address), "unknown")}
	if a.user == "" || !usable(user, maxUserName) || !usable(password, maxPassword) {
		return policy.Principal{}, errWrongPassword // nothing to count: no directory takes this
	}
	waiting, cancel := context.WithTimeout(ctx, turnWait)
	defer cancel()
	release, err := p.Service.turns.await(waiting, a)
	if err != nil {
		return policy.Principal{}, fmt.Errorf("waiting to check a password: %w", err)
	}
	defer release()
	leave, err := p.Service.checks.enter(waiting)
	if err != nil {
		return policy.Principal{}, fmt.Errorf("waiting to check a password: %w", err)
	}
	defer leave()
	// Whoever hangs up has used up an attempt all the same.
	ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), checkTimeout)
	defer cancel()
	now := time.Now()
	st, err := p.Service.listens(ctx, a, now)
	if err != nil {
		return policy.Principal{}, err
	}
	principal, err := p.authenticate(ctx, user, password)
	if errors.Is(err, ErrCredentials) {
		return policy.Principal{}, cmp.Or(p.Service.failed(ctx, a, st, time.Now()), error(errWrongPassword))
	} else if err != nil {
		return policy.Principal{}, RefusePerson(err)
	}
	return principal, p.Service.succeeded(ctx, a, st, now)
}

// authenticate lets in whom the directory vouches for. Where it remembered that from before the account
// was cut off it is asked afresh: the password may be another one since.
func (p Passwords) authenticate(ctx context.Context, user, password string) (policy.Principal, error) {
	external, err := p.Directory.Authenticate(ctx, user, password)
	if err != nil {
		return policy.Principal{}, err
	}
	principal, err := p.Service.Admit(ctx, external)
	forgetter, ok := p.Directory.(Forgetter)
	if !ok || !errors.Is(err, errCutOff) {
		return principal, err
	}
	forgetter.Forget(user, password)
	if external, err = p.Directory.Authenticate(ctx, user, password); err != nil {
		return policy.Principal{}, err
	}
	return p.Service.Admit(ctx, external)
}

// usable reports whether a directory may be asked about s.
func usable(s string, most int) bool {
	return s != "" && len(s) <= most && utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

var (
	errWrongPassword = &Refused{
		Status: http.StatusUnauthorized, Code: "credentials_wrong", Reason: "wrong_credentials",
		Detail: "The user name or the password is wrong.",
	}
	personRefusals = refusals{
		{ErrNoRole, &Refused{
			Status: http.StatusForbidden, Code: "no_role", Reason: "no_role",
			Detail: "You are known here, but none of your groups gives you a role; ask an admin.",
		}},
		{ErrNameTaken, &Refused{
			Status: http.StatusForbidden, Code: "account_unavailable", Reason: "name_taken",
			Detail: "An account cannot be created for you here; ask an admin.",
		}},
		{ErrInvalid, &Refused{
			Status: http.StatusForbidden, Code: "account_unavailable", Reason: "name_invalid",
			Detail: "An account cannot be created for you here; ask an admin.",
		}},
		{ErrRevoked, &Refused{
			Status: http.StatusForbidden, Code: "account_disabled", Reason: "revoked",
			Detail: "Your account here is disabled; ask an admin.",
		}},
		{ErrExpired, &Refused{
			Status: http.StatusForbidden, Code: "account_expired", Reason: "expired",
			Detail: "Your account here has expired; ask an admin.",
		}},
	}
)

// RefusePerson turns an error about somebody who proved who they are into a refusal; technical
// ones stay as they are.
func RefusePerson(err error) error { return personRefusals.of(err) }
