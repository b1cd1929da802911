package ldap

import (
	"context"
	"errors"
	"time"

	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

// Report tells an admin how a look at the directory went.
type Report struct {
	Steps  []Step      `json:"steps"`
	User   string      `json:"user,omitempty"` // the name here
	Role   policy.Role `json:"role,omitempty"`
	Groups []string    `json:"groups,omitempty"`
	Error  string      `json:"error,omitempty"` // why the user would not be let in
}

// Step is one step of a look, in the order they were taken: connect, tls, bind (of the account
// that searches), entry, password, groups, role.
type Step struct {
	Name     string  `json:"name"`
	Detail   string  `json:"detail,omitempty"`
	Error    string  `json:"error,omitempty"`
	Duration float64 `json:"duration_ms"`
}

func (r *Report) add(name, detail string, err error, took time.Duration) {
	s := Step{Name: name, Detail: detail, Duration: float64(took.Microseconds()) / 1000}
	if err != nil {
		s.Error = err.Error()
	}
	r.Steps = append(r.Steps, s)
}

// Explain looks a user up as [Directory.Authenticate] does, on connections of its own and past
// what is remembered, and tells each step. Without a password that step is left out.
func (d *Directory) Explain(ctx context.Context, user, password string) Report {
	r := Report{Steps: []Step{}}
	fresh, err := New(d.settings, d.password) // the same settings: no error
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
