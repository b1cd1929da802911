package identity_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

// opening is a request to open a WebSocket.
func opening(query string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/threads/1/stream/events?"+query, nil)
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "WebSocket")
	return r
}

func TestTicketProvider(t *testing.T) {
	r, other := newRig(t), newRig(t)
	alice := r.verify(t, r.addUser(t, identity.AddUser{Name: "alice", Role: policy.User}))
	fresh := func(from *rig, p policy.Principal) string {
		secret, err := from.Ticket(p)
		if err != nil {
			t.Fatal(err)
		}
		return secret.Reveal()
	}
	used := fresh(r, alice)
	if p, err := r.Redeem(t.Context(), used); err != nil || p.User != "alice" || p.Role != policy.User || p.TokenID != alice.TokenID {
		t.Fatalf("got %+v, %v", p, err)
	}
	changed := []byte(fresh(r, alice))
	changed[len(changed)/2] ^= 1
	for _, tt := range []struct {
		name string
		req  *http.Request
		want identity.Outcome
		code string
	}{
		{"none", opening(""), identity.NotMine, ""},
		{"somebody else's", opening("ticket=PVEVNC:1"), identity.NotMine, ""},
		{"in another parameter", opening("token=" + fresh(r, alice)), identity.NotMine, ""},
		{"no WebSocket", httptest.NewRequest(http.MethodGet, "/?ticket="+fresh(r, alice), nil), identity.NotMine, ""},
		{"fresh", opening("a=b&ticket=" + fresh(r, alice)), identity.Yes, ""},
		{"beside somebody else's", opening("ticket=x&ticket=" + fresh(r, alice)), identity.Yes, ""},
		{"two", opening("ticket=" + fresh(r, alice) + "&ticket=" + fresh(r, alice)), identity.No, "credentials_conflict"},
		{"used", opening("ticket=" + used), identity.No, "ticket_used"},
		{"changed", opening("ticket=" + string(changed)), identity.No, "ticket_malformed"},
		{"cut", opening("ticket=svct_"), identity.No, "ticket_malformed"},
		{"of another service", opening("ticket=" + fresh(other, alice)), identity.No, "ticket_malformed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, got, err := identity.NewTicketProvider(r.Service).Authenticate(tt.req)
			var refused *identity.Refused
			code := ""
			if errors.As(err, &refused) {
				code = refused.Code
			}
			if got != tt.want || code != tt.code || (got == identity.Yes) != (p.User == "alice") {
				t.Errorf("got %v, %q for %q, %v, want %v, %q", got, code, p.User, err, tt.want, tt.code)
			}
		})
	}
}

// A ticket ends with what its holder came with.
func TestTicketOfARevokedToken(t *testing.T) {
	r := newRig(t)
	alice := r.verify(t, r.addUser(t, identity.AddUser{Name: "alice", Role: policy.User}))
	secret, err := r.Ticket(alice)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.RemoveUser(t.Context(), boss, "alice"); err != nil {
		t.Fatal(err)
	}
	if p, err := r.Redeem(t.Context(), secret.Reveal()); !errors.Is(err, identity.ErrRevoked) {
		t.Errorf("got %+v, %v, want ErrRevoked", p, err)
	}
}

func TestTicketLetsOneIn(t *testing.T) {
	r := newRig(t)
	secret, err := r.Ticket(r.verify(t, r.addUser(t, identity.AddUser{Name: "alice", Role: policy.User})))
	if err != nil {
		t.Fatal(err)
	}
	var in atomic.Int32
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			switch _, err := r.Redeem(t.Context(), secret.Reveal()); {
			case err == nil:
				in.Add(1)
			case !errors.Is(err, identity.ErrTicketUsed):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if in.Load() != 1 {
		t.Errorf("%d came in with one ticket", in.Load())
	}
}

func TestStripTicket(t *testing.T) {
	for query, want := range map[string]string{
		"":                           "",
		"ticket=svct_x":              "",
		"a=b&ticket=svct_x&c=%20d":   "a=b&c=%20d",
		"ticket=PVEVNC:1&a=svct_x":   "ticket=PVEVNC:1&a=svct_x",
		"ticket=svct_a&ticket=svct_": "",
	} {
		if got := identity.StripTicket(&url.URL{Path: "/x", RawQuery: query}); got.RawQuery != want || got.Path != "/x" {
			t.Errorf("%q: got %q, want %q", query, got.RawQuery, want)
		}
	}
}
