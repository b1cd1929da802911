package ldap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	goldap "github.com/go-ldap/ldap/v3"
	"golang.org/x/sync/singleflight"

	"github.com/svc-gateway/svc/internal/certpool"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy/identity"
)

// Directory is an LDAP directory. Get one with [New].
type Directory struct {
	settings  settings.LDAP
	password  identity.Secret
	filter    filter
	template  template // set where users are not searched for
	base      string   // what users are searched below
	groupBase string
	roles     roles
	servers   servers

	searching *pool // bound as ldap.bind_dn, or anonymous
	proving   *pool // bound anew at each use

	key      digestKey
	proved   *cache[digest, identity.External] // by name and password
	subjects *cache[string, identity.External]
	looking  singleflight.Group // by subject
}

// New returns the directory of the settings, which are complete ([settings.Resolve] checks that);
// password is that of their BindDN. trouble may be nil. Nothing is asked yet. Errors name the
// setting.
func New(s settings.LDAP, password identity.Secret, trouble Trouble) (*Directory, error) {
	d := &Directory{settings: s, password: password, filter: filter(s.Filter)}
	var errs []error
	check := func(setting string, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("ldap.%s: %w", setting, err))
		}
	}
	d.base = s.BaseDN
	if s.UserTemplate != "" {
		var err error
		d.template, err = parseTemplate(s.UserTemplate)
		check("user_template", err)
		d.base, d.filter = d.template.parent, "(objectClass=*)"
	} else {
		_, err := parseDN(s.BaseDN)
		check("base_dn", err)
		check("filter", d.filter.check())
	}
	if d.groupBase = cmp.Or(s.GroupBaseDN, d.base); s.GroupBaseDN != "" {
		_, err := parseDN(s.GroupBaseDN)
		check("group_base_dn", err)
	}
	if s.Groups == settings.GroupsMember {
		check("group_filter", filter(s.GroupFilter).check())
	}
	var err error
	if d.roles, err = newRoles(s); err != nil {
		errs = append(errs, err)
	}
	roots, err := certpool.Read(s.CAFile)
	if err != nil {
		errs = append(errs, fmt.Errorf("ldap.ca_file: %w", err))
	}
	for _, raw := range s.URL {
		server, err := newServer(raw, s.Insecure, roots, trouble)
		check("url", err)
		d.servers = append(d.servers, server)
	}
	d.searching = newPool(s.Pool, d.openSearching)
	d.proving = newPool(s.Pool, d.openProving)
	d.key = newDigestKey()
	d.proved = newCache[digest, identity.External](s.CacheTTL)
	d.subjects = newCache[string, identity.External](s.CacheTTL)
	return d, errors.Join(errs...)
}

// Close closes the connections; one that is in use when its look is over. A directory that is
// closed still answers, and keeps no connection.
func (d *Directory) Close() {
	d.searching.close()
	d.proving.close()
}

func (d *Directory) openSearching(ctx context.Context, l *look) (*conn, error) {
	return d.servers.open(ctx, l, func(c *conn) error {
		if d.settings.BindDN == "" {
			return nil
		}
		return l.step("bind", func() (string, error) {
			err := judge(c.ldap.Bind(d.settings.BindDN, d.password.Reveal()))
			if c.server.mode == clear {
				err = c.server.mixedUp(err)
			}
			return d.settings.BindDN, err
		})
	})
}

func (d *Directory) openProving(ctx context.Context, l *look) (*conn, error) {
	return d.servers.open(ctx, l, func(*conn) error { return nil })
}

// Authenticate implements [identity.Directory].
func (d *Directory) Authenticate(ctx context.Context, user, password string) (identity.External, error) {
	if !plainName(user) || !plausible(password) {
		return identity.External{}, identity.ErrCredentials
	}
	key := d.key.of(user, password)
	if e, ok := d.proved.get(key); ok {
		return e, nil
	}
	e, err := d.newLook(nil).authenticate(ctx, user, password)
	if err != nil {
		return identity.External{}, err
	}
	d.proved.put(key, e)
	return e, nil
}

// Forget implements [identity.Forgetter].
func (d *Directory) Forget(user, password string) { d.proved.drop(d.key.of(user, password)) }

// Lookup implements [identity.Directory]. Where users are not searched for and there is no
// account that could, it returns [errors.ErrUnsupported].
func (d *Directory) Lookup(ctx context.Context, subject string) (identity.External, error) {
	if d.settings.UserTemplate != "" && d.settings.BindDN == "" {
		return identity.External{}, fmt.Errorf("looking up a user of the directory without ldap.bind_dn: %w", errors.ErrUnsupported)
	}
	if e, ok := d.subjects.get(subject); ok {
		return e, nil
	}
	// Whoever asks first may go away, and the others still wait: the look has its own deadline.
	answers := d.looking.DoChan(subject, func() (any, error) {
		e, err := d.newLook(nil).lookup(context.WithoutCancel(ctx), subject)
		if err == nil {
			d.subjects.put(subject, e)
		}
		return e, err
	})
	select {
	case a := <-answers:
		return a.Val.(identity.External), a.Err
	case <-ctx.Done():
		return identity.External{}, ctx.Err()
	}
}

// nobody is the DN of a user who is not there: binding as one takes as many steps as with a
// wrong password.
func (d *Directory) nobody() string {
	return "uid=" + goldap.EscapeDN(time.Now().Format(time.RFC3339Nano)) + "," + d.base
}
