package ldap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

// look is one look at the directory: the steps that say who somebody is.
type look struct {
	*Directory
	report *identity.Report // nil: nobody wants to know
}

func (d *Directory) newLook(r *identity.Report) *look { return &look{d, r} }

// step does one step and notes how it went.
func (l *look) step(name string, do func() (detail string, err error)) error {
	begun := time.Now()
	detail, err := do()
	if l.report != nil {
		l.report.Add(name, detail, err, time.Since(begun))
	}
	return err
}

// authenticate finds out who proves to be the user.
func (l *look) authenticate(ctx context.Context, user, password string) (identity.External, error) {
	ctx, cancel := context.WithTimeout(ctx, l.settings.Timeout)
	defer cancel()
	if l.settings.UserTemplate != "" {
		return l.authenticateAs(ctx, l.template.with(user), password)
	}
	e, unknown := l.find(ctx, user)
	if unknown != nil && (!errors.Is(unknown, identity.ErrCredentials) || l.report != nil) {
		return identity.External{}, unknown
	}
	dn := e.dn
	if unknown != nil {
		dn = l.nobody()
	}
	wrong := l.proving.use(ctx, l, func(c *conn) error { return l.prove(c, dn, password) })
	if wrong != nil && !errors.Is(wrong, identity.ErrCredentials) {
		return identity.External{}, wrong
	}
	if err := cmp.Or(unknown, wrong); err != nil {
		return identity.External{}, err
	}
	var external identity.External
	err := l.searching.use(ctx, l, func(c *conn) (err error) {
		external, err = l.complete(c, e)
		return err
	})
	external.Issued = time.Now()
	return external, err
}

// authenticateAs lets the user read about themself.
func (l *look) authenticateAs(ctx context.Context, dn, password string) (external identity.External, err error) {
	err = l.proving.use(ctx, l, func(c *conn) error {
		if err := l.prove(c, dn, password); err != nil {
			return err
		}
		e, err := l.entry(c, dn)
		if err != nil {
			return err
		}
		external, err = l.complete(c, e)
		return err
	})
	external.Issued = time.Now()
	return external, err
}

func (l *look) prove(c *conn, dn, password string) error {
	return l.step("password", func() (string, error) { return dn, c.prove(dn, password) })
}

// lookup finds out who the subject is now, without a password.
func (l *look) lookup(ctx context.Context, subject string) (identity.External, error) {
	ctx, cancel := context.WithTimeout(ctx, l.settings.Timeout)
	defer cancel()
	var external identity.External
	err := l.searching.use(ctx, l, func(c *conn) error {
		e, err := l.bySubject(c, subject)
		if err != nil {
			return err
		}
		external, err = l.complete(c, e)
		return err
	})
	if errors.Is(err, identity.ErrCredentials) || errors.Is(err, identity.ErrNoRole) {
		err = fmt.Errorf("%w: %w", identity.ErrRevoked, err)
	}
	return external, err
}

// noRole says what may be wrong with the settings where somebody is in groups and in none that counts.
func (l *look) noRole(found []group) error {
	if len(found) == 0 || l.settings.Nested || l.settings.Groups == settings.GroupsChain {
		return identity.ErrNoRole
	}
	return fmt.Errorf("%w; if these groups are members of one that does, set ldap.nested", identity.ErrNoRole)
}

// find is the entry of a user by name, on a connection of its own.
func (l *look) find(ctx context.Context, user string) (e entry, err error) {
	err = l.searching.use(ctx, l, func(c *conn) (err error) {
		e, err = l.named(c, user)
		return err
	})
	return e, err
}

// complete adds the groups and the role.
func (l *look) complete(c *conn, e entry) (identity.External, error) {
	external := identity.External{Source: policy.SourceLDAP, Subject: e.subject, Name: e.name, Expires: e.expires}
	if err := e.live(time.Now()); err != nil {
		return external, err
	}
	var found []group
	err := l.step("groups", func() (detail string, err error) {
		found, err = l.groups(c, e)
		external.Groups = groupNames(found)
		return describeGroups(found), err
	})
	if err != nil {
		return external, err
	}
	err = l.step("role", func() (string, error) {
		role, by := l.roles.of(found)
		if role == "" {
			return "", l.noRole(found)
		}
		external.Role = role
		return string(role) + " by " + by, nil
	})
	return external, err
}
