package identity_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/svc-gateway/svc/policy/identity"
)

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

func (d *door) provider(t *testing.T, origins ...string) identity.Chain {
	t.Helper()
	p, err := identity.NewBasicProvider(d.Passwords, origins...)
	if err != nil {
		t.Fatal(err)
	}
	return identity.Chain{p}
}

// ask sends credentials through a chain and returns "yes" or the code.
func ask(t *testing.T, c identity.Chain, header ...string) string {
	t.Helper()
	r := httptest.NewRequest("GET", "https://gateway.example/", nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	p, err := c.Authenticate(r)
	if err == nil {
		return "yes " + p.User
	}
	return c.Problem(err).Code
}

func TestBasicProvider(t *testing.T) {
	d := newDoor(t)
	chain := d.provider(t, "https://trusted.example")
	valid := basic("bob", right)
	for name, tt := range map[string]struct {
		header []string
		want   string
	}{
		"valid":               {[]string{"Authorization", valid}, "yes bob"},
		"scheme in any case":  {[]string{"Authorization", strings.Replace(valid, "Basic", "bASIC", 1)}, "yes bob"},
		"spaces":              {[]string{"Authorization", strings.Replace(valid, " ", "   ", 1) + " "}, "yes bob"},
		"the password is cut": {[]string{"Authorization", basic("bob", right[:5])}, wrong},
		"nothing":             {nil, "credentials_missing"},
		"another scheme":      {[]string{"Authorization", "Bearer x"}, "credentials_missing"},
		"not base64":          {[]string{"Authorization", "Basic bob:secret"}, "credentials_malformed"},
		"no colon":            {[]string{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte("bob"))}, "credentials_malformed"},
		"empty password":      {[]string{"Authorization", basic("bob", "")}, "credentials_malformed"},
		"empty name":          {[]string{"Authorization", basic("", right)}, "credentials_malformed"},
		"no value":            {[]string{"Authorization", "Basic"}, "credentials_malformed"},
		"two headers":         {[]string{"Authorization", valid, "Authorization", valid}, "credentials_conflict"},
		"a page of another site": {
			[]string{"Authorization", valid, "Sec-Fetch-Site", "cross-site"}, "yes bob", // reading is no harm
		},
		"a WebSocket of another site's page": {
			[]string{"Authorization", valid, "Upgrade", "websocket", "Origin", "https://evil.example"}, "cross_origin",
		},
	} {
		if got := ask(t, chain, tt.header...); got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
	err := errors.Join(identity.ErrNoCredentials)
	if got := chain.Challenges(err); len(got) != 1 || got[0] != `Basic realm="svc", charset="UTF-8"` {
		t.Errorf("got challenges %q", got)
	}
	if _, err := identity.NewBasicProvider(d.Passwords, "not an origin"); err == nil {
		t.Error("an origin that is none is trusted")
	}
}

// A browser sends Basic by itself once somebody typed it, for other sites' pages too.
func TestBasicOfOtherOrigins(t *testing.T) {
	d := newDoor(t)
	chain := d.provider(t, "https://trusted.example")
	for name, tt := range map[string]struct{ site, origin, want string }{
		"a program":          {"", "", "yes bob"},
		"a page of ours":     {"same-origin", "https://gateway.example", "yes bob"},
		"another site":       {"cross-site", "https://evil.example", "cross_origin"},
		"a sibling":          {"same-site", "https://other.gateway.example", "cross_origin"},
		"an old browser":     {"", "https://evil.example", "cross_origin"},
		"one that we trust":  {"cross-site", "https://trusted.example", "yes bob"},
		"trusted, but plain": {"cross-site", "http://trusted.example", "cross_origin"},
	} {
		r := httptest.NewRequest("POST", "https://gateway.example/runs", nil)
		r.Header.Set("Authorization", basic("bob", right))
		if tt.site != "" {
			r.Header.Set("Sec-Fetch-Site", tt.site)
		}
		if tt.origin != "" {
			r.Header.Set("Origin", tt.origin)
		}
		p, err := chain.Authenticate(r)
		got := "yes " + p.User
		if err != nil {
			got = chain.Problem(err).Code
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
}

func TestBasicCountsByTheClientsAddress(t *testing.T) { synctest.Test(t, countsByAddress) }

func countsByAddress(t *testing.T) {
	d := newDoor(t)
	chain := d.provider(t)
	send := func(address string) error {
		r := httptest.NewRequest("GET", "/", nil) // from the proxy, 192.0.2.1
		r.Header.Set("Authorization", basic("bob", "guess"))
		r.Header.Set("X-Forwarded-For", fmt.Sprint("10.0.0.", d.dir.questions()))
		if address != "" {
			r = r.WithContext(identity.WithAddress(r.Context(), address))
		}
		_, err := chain.Authenticate(r)
		return err
	}
	for _, address := range []string{"", "198.51.100.7"} {
		var err error
		for range 5 {
			err = send(address)
		}
		if refused, ok := errors.AsType[*identity.Refused](err); !ok || refused.Status != http.StatusTooManyRequests || refused.RetryAfter <= 0 {
			t.Errorf("address %q: got %v, want 429", address, err)
		}
	}
	if got := d.dir.questions(); got != 8 {
		t.Errorf("the directory was asked %d times, want 4 for each address", got)
	}
}

func BenchmarkPasswords(b *testing.B) {
	r, dir := newRig(b), &people{}
	p := identity.Passwords{Service: r.Service, Directory: dir}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Check(b.Context(), "bob", right, home); err != nil {
			b.Fatal(err)
		}
	}
}
