package ldap

import (
	"context"
	"errors"

	"github.com/svc-gateway/svc/policy/identity"
)

// Explain looks a user up as [Directory.Authenticate] does, on connections of its own and past
// what is remembered, and tells each step: connect, tls, bind (of the account that searches),
// entry, password, groups, role. Without a password that step is left out.
func (d *Directory) Explain(ctx context.Context, user, password string) identity.Report {
	r := identity.Report{Steps: []identity.Step{}}
	fresh, err := New(d.settings, d.password, nil) // the same settings: no error
	if err == nil {
		var e identity.External
		e, err = fresh.newLook(&r).explain(ctx, user, password)
		fresh.Close()
		r.User, r.Role, r.Groups = e.Name, e.Role, e.Groups
	}
	if err != nil {
		r.Error = err.Error()
	}
	return r
}

func (l *look) explain(ctx context.Context, user, password string) (identity.External, error) {
	switch {
	case !plainName(user):
		return identity.External{}, errors.New("the user name is empty, too long, or has characters or spaces in it that cannot be seen")
	case password != "" && !plausible(password):
		return identity.External{}, errors.New("the password is too long, or has a zero byte in it")
	case password != "":
		return l.authenticate(ctx, user, password)
	case l.settings.UserTemplate != "" && l.settings.BindDN == "":
		return identity.External{}, errors.New("with ldap.user_template and without ldap.bind_dn only the users themselves can read their entry: give the password")
	}
	ctx, cancel := context.WithTimeout(ctx, l.settings.Timeout)
	defer cancel()
	var external identity.External
	err := l.searching.use(ctx, l, func(c *conn) error {
		e, err := l.named(c, user)
		if err != nil {
			return err
		}
		external, err = l.complete(c, e)
		return err
	})
	return external, err
}
