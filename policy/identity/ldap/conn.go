package ldap

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	goldap "github.com/go-ldap/ldap/v3"

	"github.com/svc-gateway/svc/policy/identity"
)

// conn is a connection to one server. It is used by one look at a time, within run.
type conn struct {
	ldap   *goldap.Conn
	net    net.Conn // below TLS: its deadline ends whatever the server leaves unanswered
	server *server
	idle   time.Time // since when nobody uses it
}

// longAgo is a deadline that has passed.
var longAgo = time.Unix(1, 0)

// run lets f use the connection until ctx ends, which ends every read and write of it. An answer
// that the library cannot read makes it panic; that is the server's failure, not ours.
func (c *conn) run(ctx context.Context, f func() error) (err error) {
	stop := context.AfterFunc(ctx, func() { _ = c.net.SetDeadline(longAgo) })
	defer func() {
		if r := recover(); r != nil {
			err = broken{fmt.Errorf("the answer makes no sense: %v", r)}
		}
		if !stop() {
			err = broken{timeout(ctx)}
		}
	}()
	return f()
}

func timeout(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errors.New("no answer in time")
	}
	return context.Cause(ctx)
}

func (c *conn) close() {
	_ = c.net.SetDeadline(longAgo) // the library waits for a write that may hang
	_ = c.ldap.Close()
}

// broken is a failure after which a connection cannot be used any more.
type broken struct{ error }

func (b broken) Unwrap() error { return b.error }

// judge turns an error of the library into one of ours.
func judge(err error) error {
	result, ok := errors.AsType[*goldap.Error](err)
	switch {
	case err == nil:
		return nil
	case !ok || result.ResultCode >= goldap.ErrorNetwork: // from there on they are the library's own
		return broken{err}
	case result.ResultCode == goldap.LDAPResultReferral:
		return fmt.Errorf("the server refers to another one, which is not followed: name that one in ldap.url: %w", err)
	}
	return err
}

// search returns what a search finds, at most limit entries and an error when there are more.
// Places where more could be found on other servers are left out.
func (c *conn) search(base string, scope int, filter string, limit int, attributes ...string) ([]*goldap.Entry, error) {
	result, err := c.ldap.Search(goldap.NewSearchRequest(
		base, scope, goldap.NeverDerefAliases, limit, 0, false, filter, attributes, nil,
	))
	if err != nil {
		return nil, judge(err)
	}
	return result.Entries, nil
}

// read returns an entry by its DN, nil when there is none.
func (c *conn) read(dn string, attributes ...string) (*goldap.Entry, error) {
	entries, err := c.search(dn, goldap.ScopeBaseObject, "(objectClass=*)", 1, attributes...)
	if goldap.IsErrorWithCode(err, goldap.LDAPResultNoSuchObject) || err == nil && len(entries) == 0 {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return entries[0], nil
}

// changeAfterReset is the state of a password that its owner has to change first
// (draft-behera-ldap-password-policy, 6.2).
const changeAfterReset = 2

// prove binds as a user. Every answer that says no to the user is [identity.ErrCredentials]: a
// directory has many, for locked, expired and unknown accounts.
func (c *conn) prove(dn, password string) error {
	result, err := c.ldap.SimpleBind(goldap.NewSimpleBindRequest(dn, password,
		[]goldap.Control{&goldap.ControlBeheraPasswordPolicy{}}))
	var state string
	if result != nil {
		if control, ok := goldap.FindControl(result.Controls, goldap.ControlTypeBeheraPasswordPolicy).(*goldap.ControlBeheraPasswordPolicy); ok && control.Error >= 0 {
			state = control.ErrorString
			if err == nil && control.Error == changeAfterReset {
				return fmt.Errorf("%w: %s", identity.ErrCredentials, state)
			}
		}
	}
	if goldap.IsErrorAnyOf(err,
		goldap.LDAPResultInvalidCredentials, goldap.LDAPResultInappropriateAuthentication, goldap.LDAPResultNoSuchObject,
		goldap.LDAPResultInvalidDNSyntax, goldap.LDAPResultConstraintViolation, goldap.LDAPResultUnwillingToPerform) {
		if state == "" {
			state = err.Error()
		}
		return fmt.Errorf("%w: %s", identity.ErrCredentials, state)
	}
	return judge(err)
}
