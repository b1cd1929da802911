package identity_test

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/sqlite"
)

// populated is a service with as many users, and their tokens.
func populated(tb testing.TB, users, each int) (s *identity.Service, tokens []string) {
	tb.Helper()
	st, err := sqlite.Open(tb.Context(), filepath.Join(tb.TempDir(), "identity.db"))
	if err != nil {
		tb.Fatal(err)
	}
	const batch = 10_000 // users in one change
	for first := 0; first < users; first += batch {
		c := identity.Change{Revision: int64(first / batch)}
		for u := first; u < min(first+batch, users); u++ {
			name := fmt.Sprintf("user-%d", u)
			c.Users = append(c.Users, identity.User{Name: name, Role: policy.User, Created: time.Now()})
			for range each {
				token := identity.MakeToken()
				tokens = append(tokens, token)
				hash := sha256.Sum256([]byte(token))
				c.NewTokens = append(c.NewTokens, identity.NewToken{
					Token: identity.Token{ID: fmt.Sprintf("%x", hash[:6]), User: name, Name: "default", Created: time.Now()}, Hash: hash,
				})
			}
		}
		if _, err := st.Apply(tb.Context(), c); err != nil {
			tb.Fatal(err)
		}
	}
	if s, err = identity.New(tb.Context(), st, &recorder{store: st}, bus.NewMemory()); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s, tokens
}

// More users and tokens cost a request no more memory.
func TestAllocationsDoNotGrow(t *testing.T) {
	allocations := func(users int) float64 {
		s, tokens := populated(t, users, 3)
		return testing.AllocsPerRun(1000, func() {
			if _, err := s.Verify(t.Context(), tokens[0]); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := allocations(10), allocations(1000); many > few {
		t.Errorf("got %v allocations a request with 1,000 users, want %v as with 10", many, few)
	}
}

// BenchmarkVerify looks tokens up among 300,000 of 100,000 users: 10,000 that are in use, one
// after the other and from all processors at once, and tokens that nobody used lately. Sessions
// and people from outside are looked up in the same way.
func BenchmarkVerify(b *testing.B) {
	s, tokens := populated(b, 100_000, 3)
	verify := func(b *testing.B, token string) policy.Principal {
		p, err := s.Verify(b.Context(), token)
		if err != nil {
			b.Fatal(err)
		}
		return p
	}
	hot := tokens[:10_000]
	var principals []policy.Principal
	for _, token := range hot {
		principals = append(principals, verify(b, token))
	}
	b.Run("hot", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			verify(b, hot[i%len(hot)])
		}
	})
	b.Run("hot_parallel", func(b *testing.B) {
		b.ReportAllocs()
		var n atomic.Int64
		b.RunParallel(func(pb *testing.PB) {
			for i := int(n.Add(997)); pb.Next(); i++ {
				verify(b, hot[i%len(hot)])
			}
		})
	})
	b.Run("resolve", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if _, err := s.Resolve(b.Context(), principals[i%len(principals)]); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("session", func(b *testing.B) {
		_, secret, err := s.Login(b.Context(), identity.NewSession{Principal: principals[0], Kind: identity.WebSession, Lifetime: time.Hour})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.Session(b.Context(), secret.Reveal(), identity.WebSession); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("admit", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.Admit(b.Context(), ldapUser("bob", "1", policy.User)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("login", func(b *testing.B) { // durable, with nobody else to share the commit
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := s.Login(b.Context(), identity.NewSession{Principal: principals[1], Kind: identity.WebSession, Lifetime: time.Hour}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("cold", func(b *testing.B) {
		b.ReportAllocs()
		cold := tokens[len(hot):]
		for i := 0; b.Loop(); i++ {
			verify(b, cold[i%len(cold)])
		}
	})
}
