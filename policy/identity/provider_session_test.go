package identity_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

func TestSessionProvider(t *testing.T) {
	const friend = "https://friend.example"
	r := newRig(t)
	alice := r.verify(t, r.addUser(t, identity.AddUser{Name: "alice", Role: policy.User}))
	open := func(kind identity.SessionKind) string {
		_, secret, err := r.Login(t.Context(), identity.NewSession{Principal: alice, Kind: kind, Lifetime: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		return "svc_token=" + secret.Reveal()
	}
	live, api := open(identity.WebSession), open(identity.APISession)
	ended := open(identity.WebSession)
	p, err := identity.NewSessionProvider(r.Service, friend)
	if err != nil {
		t.Fatal(err)
	}
	of := func(cookie string) policy.Principal {
		req := httptest.NewRequest(http.MethodGet, "/", nil)
		req.Header.Set("Cookie", cookie)
		is, _, err := p.Authenticate(req)
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	if _, err := r.Logout(t.Context(), alice, "alice", of(ended).SessionID); err != nil {
		t.Fatal(err)
	}
	if got := of(live); got.User != "alice" || got.Role != policy.User || got.Source != policy.SourceToken || got.SessionID == "" || got.Expires.IsZero() {
		t.Errorf("got the principal %+v", got)
	}

	const evil = "https://evil.example"
	for _, tt := range []struct {
		name, method string
		header       http.Header
		want         identity.Outcome
		code         string
	}{
		{"none", "GET", nil, identity.NotMine, ""},
		{"another", "GET", http.Header{"Cookie": {"svc_token2=x"}}, identity.NotMine, ""},
		{"empty", "GET", http.Header{"Cookie": {"svc_token="}}, identity.NotMine, ""},
		{"a live one", "GET", http.Header{"Cookie": {live}}, identity.Yes, ""},
		{"among others", "GET", http.Header{"Cookie": {"a=b; " + live + "; c=d"}}, identity.Yes, ""},
		{"beside somebody else's credential", "GET", http.Header{"Cookie": {live}, "Authorization": {"Bearer sk-1"}}, identity.Yes, ""},
		{"an ended one", "GET", http.Header{"Cookie": {ended}}, identity.NotMine, "session_ended"},
		{"a program's", "GET", http.Header{"Cookie": {api}}, identity.NotMine, "session_ended"},
		{"nonsense", "GET", http.Header{"Cookie": {"svc_token=x"}}, identity.NotMine, "session_ended"},
		{"two", "GET", http.Header{"Cookie": {live + "; " + ended}}, identity.No, "credentials_conflict"},
		{"the same twice", "GET", http.Header{"Cookie": {live, live}}, identity.No, "credentials_conflict"},
		{"a write of our page", "POST", http.Header{"Cookie": {live}, "Origin": {"http://example.com"}, "Sec-Fetch-Site": {"same-origin"}}, identity.Yes, ""},
		{"a write of our page, in an old browser", "POST", http.Header{"Cookie": {live}, "Origin": {"http://example.com"}}, identity.Yes, ""},
		{"a write of a program", "POST", http.Header{"Cookie": {live}}, identity.Yes, ""},
		{"a read from elsewhere", "GET", http.Header{"Cookie": {live}, "Origin": {evil}, "Sec-Fetch-Site": {"cross-site"}}, identity.Yes, ""},
		{"a write from elsewhere", "POST", http.Header{"Cookie": {live}, "Origin": {evil}, "Sec-Fetch-Site": {"cross-site"}}, identity.No, "cross_origin"},
		{"a write from a sibling", "DELETE", http.Header{"Cookie": {live}, "Origin": {"http://evil.example.com"}, "Sec-Fetch-Site": {"same-site"}}, identity.No, "cross_origin"},
		{"a write from elsewhere, in an old browser", "PUT", http.Header{"Cookie": {live}, "Origin": {evil}}, identity.No, "cross_origin"},
		{"a write from a trusted origin", "POST", http.Header{"Cookie": {live}, "Origin": {friend}, "Sec-Fetch-Site": {"cross-site"}}, identity.Yes, ""},
		{"a WebSocket of our page", "GET", http.Header{"Cookie": {live}, "Upgrade": {"websocket"}, "Origin": {"http://example.com"}, "Sec-Fetch-Site": {"same-origin"}}, identity.Yes, ""},
		{"a WebSocket from elsewhere", "GET", http.Header{"Cookie": {live}, "Upgrade": {"websocket"}, "Origin": {evil}}, identity.No, "cross_origin"},
		{"a WebSocket over HTTP/2 from elsewhere", "CONNECT", http.Header{"Cookie": {live}, "Origin": {evil}}, identity.No, "cross_origin"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req := httptest.NewRequest(tt.method, "http://example.com/", nil)
			req.Header = tt.header
			_, outcome, err := p.Authenticate(req)
			refused, _ := errors.AsType[*identity.Refused](err)
			switch {
			case outcome != tt.want:
				t.Errorf("got outcome %d and %v, want %d", outcome, err, tt.want)
			case (refused == nil) != (tt.code == "") || refused != nil && refused.Code != tt.code:
				t.Errorf("got %v, want the code %q", err, tt.code)
			}
		})
	}
	if _, err := identity.NewSessionProvider(r.Service, "no origin"); err == nil {
		t.Error("something that is no origin was taken for one")
	}
}

// Where tokens are none of the ways in, the session of an API client still is.
func TestAPISessionProvider(t *testing.T) {
	r := newRig(t)
	token := r.addUser(t, identity.AddUser{Name: "alice", Role: policy.User})
	secrets := map[identity.SessionKind]string{}
	for _, kind := range []identity.SessionKind{identity.WebSession, identity.APISession} {
		_, secret, err := r.Login(t.Context(), identity.NewSession{Principal: r.verify(t, token), Kind: kind, Lifetime: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		secrets[kind] = secret.Reveal()
	}
	p := identity.NewAPISessionProvider(r.Service)
	for _, tt := range []struct {
		name   string
		header http.Header
		want   identity.Outcome
	}{
		{"API session", http.Header{"Authorization": {"Bearer " + secrets[identity.APISession]}}, identity.Yes},
		{"API session as a key", http.Header{"X-Api-Key": {secrets[identity.APISession]}}, identity.Yes},
		{"web session", http.Header{"Authorization": {"Bearer " + secrets[identity.WebSession]}}, identity.No},
		{"token", http.Header{"Authorization": {"Bearer " + token}}, identity.No},
		{"password", http.Header{"Authorization": {"Basic YTpi"}}, identity.NotMine},
		{"nothing", nil, identity.NotMine},
	} {
		req := httptest.NewRequest(http.MethodGet, "/", nil)
		req.Header = tt.header
		is, got, err := p.Authenticate(req)
		if got != tt.want || (got == identity.Yes) != (is.User == "alice") {
			t.Errorf("%s: got %+v, outcome %v, %v, want outcome %v", tt.name, is, got, err, tt.want)
		}
	}
}
