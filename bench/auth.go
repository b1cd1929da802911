package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/sqlite"
)

// The size of the store behind svc_auth while it is measured.
const (
	storeUsers      = 100_000
	storeTokensEach = 3
	storeBatch      = 10_000 // users in one change
)

const authCaddyfile = `{
	admin "unix/{$BENCH_ADMIN}|0600"
	persist_config off
	auto_https off
	svc {
		oidc bench {
			issuer      {$BENCH_ISSUER}
			audience    bench
			user_groups users
		}
	}
}
:{$BENCH_PORT} {
	bind 127.0.0.1
	svc_auth
	reverse_proxy {$BENCH_UPSTREAM}
}
`

// authClients is how many clients send requests with each credential.
const authClients = 16

// auth measures the same upstream through bare reverse_proxy and behind svc_auth alone, with each
// kind of credential, over a store of many users.
func (b *bench) auth(ctx context.Context) error {
	upstream, stop, err := b.site.upstream(ctx)
	if err != nil {
		return err
	}
	defer stop()
	bare, err := b.site.caddy(ctx, "auth-bare", bareCaddyfile, upstream)
	if err != nil {
		return err
	}
	defer bare.stop()
	b.progress("writing %d users with %d tokens", storeUsers, storeUsers*storeTokensEach)
	if err := b.site.populate(ctx, "auth"); err != nil {
		return err
	}
	iss, err := startIssuer()
	if err != nil {
		return fmt.Errorf("starting an identity provider: %w", err)
	}
	defer iss.stop()
	guarded, err := b.site.caddy(ctx, "auth", authCaddyfile, upstream, "SVC_AUTH_MODE=token oidc", "BENCH_ISSUER="+iss.url)
	if err != nil {
		return err
	}
	defer guarded.stop()
	jwt, err := iss.token()
	if err != nil {
		return err
	}
	session, err := openSession(ctx, http.DefaultClient, "http://"+guarded.addr+"/auth/login", map[string]string{"token": guarded.token})
	if err != nil {
		return err
	}
	for _, c := range []struct{ name, credential string }{
		{"token", guarded.token}, {"session", session}, {"JWT", jwt},
	} {
		b.progress("%s, %d clients", c.name, authClients)
		f, err := b.compare(ctx, bare, guarded, func(sv *service) load {
			return b.load(sv, authClients, post("/json", c.credential, requestBody), func() checker {
				return &exactly{want: responseBody}
			})
		})
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		b.report.Auth = append(b.report.Auth, authFigures{Credential: c.name, Clients: authClients, comparison: f})
	}
	return nil
}

// populate writes the users of a store before its service is started.
func (s site) populate(ctx context.Context, name string) (err error) {
	home, err := s.folder(filepath.Join(name, "databases"))
	if err != nil {
		return err
	}
	st, err := sqlite.Open(ctx, filepath.Join(home, "identity.db"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	revision, err := st.Revision(ctx)
	if err != nil {
		return err
	}
	now := time.Now()
	for first := 0; first < storeUsers; first += storeBatch {
		c := identity.Change{Revision: revision}
		for u := first; u < first+storeBatch; u++ {
			user := identity.User{Name: fmt.Sprintf("user-%d", u), Role: policy.User, Created: now}
			c.Users = append(c.Users, user)
			for range storeTokensEach {
				t := identity.NewToken{Token: identity.Token{User: user.Name, Name: identity.DefaultToken, Created: now}}
				_, _ = rand.Read(t.Hash[:]) // never fails
				t.ID = hex.EncodeToString(t.Hash[:6])
				c.NewTokens = append(c.NewTokens, t)
			}
		}
		if revision, err = st.Apply(ctx, c); err != nil {
			return fmt.Errorf("writing users: %w", err)
		}
	}
	return nil
}
