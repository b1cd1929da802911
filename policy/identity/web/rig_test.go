package web_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/identitytest"
	"github.com/svc-gateway/svc/policy/identity/web"
)

const lifetime = 24 * time.Hour

var boss = policy.Principal{User: "os:root", Role: policy.Admin, Source: policy.SourceOS}

// rig is a site whose every page needs somebody, with the handler below /auth.
type rig struct {
	*identity.Service
	config web.Config
	log    *recorder
	url    string
	tb     testing.TB
}

// newRig starts the site; change adapts the configuration, in which tokens log in.
func newRig(tb testing.TB, change ...func(*web.Config)) *rig {
	tb.Helper()
	r := &rig{log: &recorder{}, tb: tb}
	dir := tb.TempDir()
	key := identity.WithKey(filepath.Join(dir, "identity.key"))
	r.Service = identitytest.Open(tb, filepath.Join(dir, "identity.db"), r.log, bus.NewMemory(), key)
	session, err := identity.NewSessionProvider(r.Service)
	if err != nil {
		tb.Fatal(err)
	}
	r.config = web.Config{
		Service: r.Service, Prefix: "/auth", Lifetime: lifetime, Tokens: true, Audit: r.log, Log: zap.NewNop(),
		Chain: identity.Chain{identity.NewTokenProvider(r.Service), session},
	}
	for _, f := range change {
		f(&r.config)
	}
	h, err := web.New(r.config)
	if err != nil {
		tb.Fatal(err)
	}
	srv := httptest.NewServer(site(h, r.config.Chain))
	tb.Cleanup(srv.Close)
	r.url = srv.URL
	return r
}

// site does in short what the stage svc_auth does.
func site(h *web.Handler, chain identity.Chain) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Test-Secure") != "" {
			r = r.WithContext(web.WithArrival(r.Context(), web.Arrival{Root: "/auth", Secure: true}))
		}
		if h.Serves(r.URL.Path) && h.Open(r.URL.Path) {
			h.ServeHTTP(w, r)
			return
		}
		p, err := chain.Authenticate(r)
		switch {
		case err != nil && r.Method == http.MethodGet && web.WantsPage(r) && chain.Problem(err).Status == http.StatusUnauthorized:
			http.Redirect(w, r, "/auth/login?"+url.Values{"next": {r.URL.RequestURI()}}.Encode(), http.StatusSeeOther)
		case err != nil:
			h.Problem(w, r, chain.Problem(err))
		case h.Serves(r.URL.Path):
			h.ServeHTTP(w, r.WithContext(policy.WithPrincipal(r.Context(), p)))
		default:
			fmt.Fprintf(w, "<p id=app>%s %s %s</p>", p.User, r.Method, r.URL.RequestURI())
		}
	})
}

// addUser creates a user and returns the token.
func (r *rig) addUser(u identity.AddUser) string {
	r.tb.Helper()
	u.Role = cmp.Or(u.Role, policy.User)
	_, secret, err := r.AddUser(r.tb.Context(), boss, u)
	if err != nil {
		r.tb.Fatal(err)
	}
	return secret.Reveal()
}

// do sends a request with header lines "Name: value" and returns the answer and its body.
func (r *rig) do(method, path, body string, header ...string) (*http.Response, string) {
	r.tb.Helper()
	req, err := http.NewRequest(method, r.url+path, strings.NewReader(body))
	if err != nil {
		r.tb.Fatal(err)
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Add(name, value)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		r.tb.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		r.tb.Fatal(err)
	}
	return resp, string(answer)
}

const (
	asForm = "Content-Type: application/x-www-form-urlencoded"
	asJSON = "Content-Type: application/json"
	page   = "Accept: text/html,application/xhtml+xml,*/*;q=0.8"
)

// login logs in as the page does and returns the Cookie line of the session.
func (r *rig) login(form url.Values, header ...string) string {
	r.tb.Helper()
	resp, body := r.do(http.MethodPost, "/auth/login", form.Encode(), append(header, asForm, page)...)
	cookies := resp.Cookies()
	if resp.StatusCode != http.StatusSeeOther || len(cookies) != 1 {
		r.tb.Fatalf("logging in: got %s %v: %s", resp.Status, cookies, body)
	}
	return "Cookie: " + cookies[0].Name + "=" + cookies[0].Value
}

// code is the code of a problem.
func code(resp *http.Response, body string) string {
	resp.Body = io.NopCloser(strings.NewReader(body))
	return problem.Parse(resp).Code
}

// directory knows ada and her password.
type directory struct {
	down error
}

func (d *directory) Authenticate(_ context.Context, user, password string) (identity.External, error) {
	switch {
	case d.down != nil:
		return identity.External{}, d.down
	case user == "norole" && password == "enigma":
		return identity.External{}, identity.ErrNoRole
	case user != "ada" || password != "enigma":
		return identity.External{}, identity.ErrCredentials
	}
	return identity.External{
		Source: policy.SourceLDAP, Subject: "1", Name: "ada", Role: policy.User, Groups: []string{"ops"},
	}, nil
}

func (d *directory) Lookup(context.Context, string) (identity.External, error) {
	return identity.External{}, errors.ErrUnsupported
}

// withDirectory has passwords log in too.
func withDirectory(d *directory) func(*web.Config) {
	return func(c *web.Config) {
		c.Service.SetSources(d, nil)
		c.Passwords = identity.Passwords{Service: c.Service, Directory: d}
	}
}

// recorder is an audit log in memory.
type recorder struct {
	mu     sync.Mutex
	events []audit.Event
	fail   error
}

func (l *recorder) Record(_ context.Context, e ...audit.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fail == nil {
		l.events = append(l.events, e...)
	}
	return l.fail
}

func (l *recorder) Queue(ctx context.Context, e ...audit.Event) error { return l.Record(ctx, e...) }

// of returns the events of a type.
func (l *recorder) of(kind string) []audit.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []audit.Event
	for _, e := range l.events {
		if e.Type == kind {
			list = append(list, e)
		}
	}
	return list
}

func (l *recorder) breakDown(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fail = err
}
