package identitytest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

func conflict(t *testing.T, s identity.Store) {
	first := apply(t, s, identity.Change{Users: []identity.User{user("bob", policy.User)}})
	apply(t, s, identity.Change{Users: []identity.User{user("eve", policy.User)}})
	before := accounts(t, s, identity.Filter{})
	for _, revision := range []int64{first, first - 1, first + 5, -1} {
		_, err := s.Apply(t.Context(), identity.Change{Revision: revision, Users: []identity.User{user("mallory", policy.Admin)}})
		if !errors.Is(err, identity.ErrConflict) {
			t.Errorf("revision %d: got %v, want ErrConflict", revision, err)
		}
	}
	same(t, "accounts", before, accounts(t, s, identity.Filter{}))
}

func atomic(t *testing.T, s identity.Store) {
	revision := apply(t, s, identity.Change{Users: []identity.User{user("bob", policy.User)}, NewTokens: []identity.NewToken{token("bob", "b1")}})
	before := accounts(t, s, identity.Filter{})
	sameID, sameHash := token("bob", "b1"), token("bob", "b1")
	sameID.Hash[31], sameHash.ID = 1, "b2"
	for name, c := range map[string]identity.Change{
		"id that exists":         {NewTokens: []identity.NewToken{sameID}},
		"hash that exists":       {NewTokens: []identity.NewToken{sameHash}},
		"token of nobody":        {NewTokens: []identity.NewToken{token("nobody", "n1")}},
		"unknown token":          {Tokens: []identity.Token{{ID: "n1", Revoked: epoch}}},
		"role that is not known": {Users: []identity.User{user("x", "root")}},
	} {
		c.Revision = revision
		c.Users = append([]identity.User{user("bob", policy.Admin), user("eve", policy.Admin)}, c.Users...)
		if _, err := s.Apply(t.Context(), c); err == nil || errors.Is(err, identity.ErrConflict) {
			t.Errorf("%s: got %v, want an error that is no conflict", name, err)
		}
		same(t, name, before, accounts(t, s, identity.Filter{}))
	}
}

func concurrent(t *testing.T, s identity.Store) {
	const workers, each = 4, 8
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				c := identity.Change{Users: []identity.User{user(fmt.Sprintf("u%d-%d", w, i), policy.User)}}
				for {
					var err error
					if c.Revision, err = s.Revision(t.Context()); err == nil {
						_, err = s.Apply(t.Context(), c)
					}
					if err == nil {
						break
					}
					if !errors.Is(err, identity.ErrConflict) {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	revision, err := s.Revision(t.Context())
	if n := len(accounts(t, s, identity.Filter{})); n != workers*each || revision != int64(n) || err != nil {
		t.Errorf("got %d users at revision %d, %v; want %d", n, revision, err, workers*each)
	}
}

func snapshot(t *testing.T, s identity.Store) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 50 {
			name := fmt.Sprintf("u%d", i)
			_, err := s.Apply(t.Context(), identity.Change{
				Revision: int64(i), Users: []identity.User{user(name, policy.User)}, NewTokens: []identity.NewToken{token(name, name)},
			})
			if err != nil {
				t.Error(err)
				return
			}
		}
	}()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		list, revision, err := s.Accounts(t.Context(), identity.Filter{})
		if err != nil || int64(len(list)) != revision {
			t.Fatalf("got %d users at revision %d, %v", len(list), revision, err)
		}
		for _, a := range list {
			if len(a.Tokens) != 1 {
				t.Fatalf("got user %s without the token of the same change", a.Name)
			}
		}
	}
}

func ended(t *testing.T, s identity.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, hashErr := s.ByHash(ctx, identity.Hash{})
	_, _, listErr := s.Accounts(ctx, identity.Filter{})
	_, applyErr := s.Apply(ctx, identity.Change{Users: []identity.User{user("bob", policy.User)}})
	for _, err := range []error{hashErr, listErr, applyErr} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
	}
	if n := len(accounts(t, s, identity.Filter{})); n != 0 {
		t.Errorf("got %d users from a change that was cancelled", n)
	}
}
