package adminapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/internal/tcpport"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/adminapi"
)

// Users are managed in the same way on a running service and on the files of a stopped one.
func TestAdmin(t *testing.T) {
	for name, open := range map[string]func(*testing.T, *rig) identity.Admin{
		"direct":    func(_ *testing.T, r *rig) identity.Admin { return r.As(boss) },
		"over HTTP": func(t *testing.T, r *rig) identity.Admin { return serve(t, r, &boss) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			a := open(t, r)
			admin(t, r, a)
			adminTokens(t, r, a)
		})
	}
}

func admin(t *testing.T, r *rig, a identity.Admin) {
	ctx := t.Context()
	end := time.Now().Add(24 * time.Hour).UTC().Truncate(time.Microsecond)
	user, secret, err := a.AddUser(ctx, identity.AddUser{Name: "bob", Role: policy.User, Expires: end})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(identity.User{Name: "bob", Role: policy.User, Created: user.Created, Expires: end}, user); d != "" || user.Created.IsZero() {
		t.Errorf("(-want +got):\n%s", d)
	}
	p := r.verify(t, secret.Reveal())
	role, off, never := policy.Readonly, false, time.Time{}
	user, err = a.UpdateUser(ctx, "bob", identity.UpdateUser{Role: &role, Disabled: &off, Expires: &never})
	if err != nil || user.Role != role || !user.Expires.IsZero() {
		t.Errorf("UpdateUser: got %+v, %v", user, err)
	}
	_, rotated, err := a.RotateToken(ctx, "bob", "", 90*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	r.verify(t, rotated.Reveal())
	revoked, err := a.RevokeToken(ctx, "bob", p.TokenID)
	if err != nil || len(revoked) != 1 || revoked[0].ID != p.TokenID {
		t.Errorf("RevokeToken: got %+v, %v", revoked, err)
	}
	revoked, err = a.RevokeToken(ctx, "bob", p.TokenID)
	if err != nil || len(revoked) != 0 {
		t.Errorf("RevokeToken again: got %+v, %v", revoked, err)
	}
	got, err := a.Users(ctx)
	if err != nil {
		t.Fatal(err)
	}
	want, err := r.Users(ctx)
	if d := cmp.Diff(want, got); err != nil || d != "" || len(got) != 1 || len(got[0].Tokens) != 2 {
		t.Errorf("Users: %v (-want +got):\n%s", err, d)
	}
	if _, _, err := a.AddUser(ctx, identity.AddUser{Name: "root", Role: policy.Admin}); err != nil {
		t.Fatal(err)
	}
	_, _, exists := a.AddUser(ctx, identity.AddUser{Name: "bob", Role: policy.User})
	_, _, invalid := a.AddUser(ctx, identity.AddUser{Name: "a b", Role: policy.User})
	_, _, past := a.AddUser(ctx, identity.AddUser{Name: "eve", Role: policy.User, Expires: time.Unix(1, 0)})
	_, notFound := a.UpdateUser(ctx, "no/body", identity.UpdateUser{})
	_, noToken := a.RevokeToken(ctx, "bob", "x/y")
	_, last := a.RevokeToken(ctx, "root", "")
	_, _, grace := a.RotateToken(ctx, "bob", "", -time.Second)
	for _, tt := range []struct {
		got, want error
		text      string
	}{
		{exists, identity.ErrUserExists, "bob"},
		{invalid, identity.ErrInvalid, "name:"},
		{past, identity.ErrInvalid, "2027-01-31"},
		{notFound, identity.ErrUserNotFound, "no/body"},
		{noToken, identity.ErrTokenNotFound, "x/y"},
		{last, identity.ErrLastAdmin, "root"},
		{grace, identity.ErrInvalid, "grace:"},
	} {
		if !errors.Is(tt.got, tt.want) || !strings.Contains(tt.got.Error(), tt.text) {
			t.Errorf("got %v, want %v naming %q", tt.got, tt.want, tt.text)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := a.Users(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func adminTokens(t *testing.T, r *rig, a identity.Admin) {
	ctx := t.Context()
	if _, _, err := a.AddUser(ctx, identity.AddUser{Name: "robot", Role: policy.User}); err != nil {
		t.Fatal(err)
	}
	end := time.Now().Add(24 * time.Hour).UTC().Truncate(time.Microsecond)
	token, secret, err := a.AddToken(ctx, "robot", identity.AddToken{Name: "ci", Role: policy.Readonly, Expires: end})
	if err != nil {
		t.Fatal(err)
	}
	want := identity.Token{ID: token.ID, User: "robot", Name: "ci", Role: policy.Readonly, Created: token.Created, Expires: end}
	if d := cmp.Diff(want, token); d != "" {
		t.Errorf("AddToken (-want +got):\n%s", d)
	}
	if _, _, err := a.AddToken(ctx, "robot", identity.AddToken{Name: "ci"}); !errors.Is(err, identity.ErrTokenExists) {
		t.Errorf("AddToken again: got %v, want ErrTokenExists", err)
	}
	p := r.verify(t, secret.Reveal())
	first := r.login(t, p, identity.APISession)
	second := r.login(t, p, identity.WebSession)
	for user, want := range map[string][]identity.Session{"": {first, second}, "robot": {first, second}, "bob": {}} {
		got, err := a.Sessions(ctx, user)
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("Sessions of %q: %v (-want +got):\n%s", user, err, d)
		}
	}
	if _, err := a.EndSessions(ctx, "robot", "x/y"); !errors.Is(err, identity.ErrSessionNotFound) {
		t.Errorf("EndSessions: got %v, want ErrSessionNotFound", err)
	}
	for _, x := range []struct {
		id   string
		want identity.Session
	}{{first.ID, first}, {"", second}} {
		ended, err := a.EndSessions(ctx, "robot", x.id)
		if d := cmp.Diff([]identity.Session{x.want}, ended); err != nil || d != "" {
			t.Errorf("EndSessions %q: %v (-want +got):\n%s", x.id, err, d)
		}
	}
	if rotated, _, err := a.RotateToken(ctx, "robot", "ci", 0); err != nil || rotated.Name != "ci" || rotated.Role != policy.Readonly {
		t.Errorf("RotateToken: got %+v, %v", rotated, err)
	}
	if lockouts, err := a.Lockouts(ctx); err != nil || len(lockouts) != 0 {
		t.Errorf("Lockouts: got %+v, %v; want none", lockouts, err)
	}
	if unlocked, err := a.Unlock(ctx, "2001:db8::/64"); err != nil || len(unlocked) != 0 {
		t.Errorf("Unlock: got %+v, %v; want none", unlocked, err)
	}
	if removed, err := a.RemoveUser(ctx, "robot"); err != nil || removed.Name != "robot" || removed.Removed.IsZero() {
		t.Errorf("RemoveUser: got %+v, %v", removed, err)
	}
}

func TestHandlerRefuses(t *testing.T) {
	r := newRig(t)
	r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User})
	const media = "application/json"
	for name, tt := range map[string]struct {
		method, path, media, body string
		status                    int
		code, detail              string
	}{
		"unknown path":      {"GET", "/user", "", "", 404, "not_found", "/user"},
		"media type":        {"POST", "/users", "text/plain", `{}`, 415, "unsupported_media_type", "application/json"},
		"no media type":     {"POST", "/users", "", `{}`, 415, "unsupported_media_type", ""},
		"charset":           {"POST", "/users", media + "; charset=utf-8", `{"name":"bob","role":"user"}`, 409, "user_exists", "bob"},
		"empty":             {"POST", "/users", media, ``, 422, "invalid_request", "empty"},
		"cut off":           {"POST", "/users", media, `{"name":`, 422, "invalid_request", "too early"},
		"no object":         {"POST", "/users", media, `[]`, 422, "invalid_request", "wrong type"},
		"unknown key":       {"POST", "/users", media, `{"name":"x","role":"user","rolle":"admin"}`, 422, "invalid_request", "rolle"},
		"key in capitals":   {"POST", "/users", media, `{"Name":"x","role":"user"}`, 422, "invalid_request", "Name"},
		"key twice":         {"POST", "/users", media, `{"name":"x","role":"user","role":"admin"}`, 422, "invalid_request", "duplicate"},
		"trailing value":    {"POST", "/users", media, `{"name":"x","role":"user"}{}`, 422, "invalid_request", "more than one"},
		"type":              {"POST", "/users", media, `{"name":5,"role":"user"}`, 422, "invalid_request", "/name"},
		"role":              {"POST", "/users", media, `{"name":"x","role":"root"}`, 422, "invalid_request", "admin, user or readonly"},
		"expires":           {"POST", "/users", media, `{"name":"x","role":"user","expires":"soon"}`, 422, "invalid_request", "90d"},
		"expires of update": {"PATCH", "/users/bob", media, `{"expires":"0d"}`, 422, "invalid_request", "passed"},
		"grace":             {"POST", "/users/bob/rotate", media, `{"grace":"2 days"}`, 422, "invalid_request", "24h"},
		"too large":         {"POST", "/users", media, `{"name":"` + strings.Repeat("x", 1<<17) + `"}`, 413, "body_too_large", "65536"},
		"unknown user":      {"POST", "/users/eve/rotate", media, `{}`, 404, "user_not_found", "eve"},
		"unknown session":   {"DELETE", "/users/bob/sessions/x", "", ``, 404, "session_not_found", "x"},
		"name of a token":   {"POST", "/users/bob/tokens", media, `{"name":"a b"}`, 422, "invalid_request", "name:"},
		"token that works":  {"POST", "/users/bob/tokens", media, `{"name":"default"}`, 409, "token_exists", "default"},
		"unknown token":     {"DELETE", "/users/bob/tokens/x", "", ``, 404, "token_not_found", "x"},
	} {
		t.Run(name, func(t *testing.T) {
			w := httptest.NewRecorder()
			req := httptest.NewRequest(tt.method, tt.path, strings.NewReader(tt.body))
			if tt.media != "" {
				req.Header.Set("Content-Type", tt.media)
			}
			adminapi.Handler(r.Service).ServeHTTP(w, req.WithContext(policy.WithPrincipal(req.Context(), boss)))
			var p problem.Problem
			if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Header().Get("Content-Type") != problem.ContentType {
				t.Fatalf("got %s %q: %v", w.Header().Get("Content-Type"), w.Body, err)
			}
			if w.Code != tt.status || p.Code != tt.code || !strings.Contains(p.Detail, tt.detail) {
				t.Errorf("got %d %+v, want %d %s naming %q", w.Code, p, tt.status, tt.code, tt.detail)
			}
			if strings.Contains(p.Detail, "identity.") {
				t.Errorf("got detail %q with a Go type in it", p.Detail)
			}
		})
	}
}

func TestHandlerNeedsAnAdmin(t *testing.T) {
	r := newRig(t)
	r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User})
	r.log.drain()
	for name, actor := range map[string]*policy.Principal{
		"nobody": nil, "user": {User: "bob", Role: policy.User, Source: policy.SourceToken},
	} {
		c := serve(t, r, actor)
		_, list := c.Users(t.Context())
		_, _, add := c.AddUser(t.Context(), identity.AddUser{Name: "x", Role: policy.Admin})
		_, _, rotate := c.RotateToken(t.Context(), "bob", "", 0)
		_, sessions := c.Sessions(t.Context(), "")
		_, end := c.EndSessions(t.Context(), "root", "")
		_, remove := c.RemoveUser(t.Context(), "root")
		_, lockouts := c.Lockouts(t.Context())
		_, unlock := c.Unlock(t.Context(), "bob")
		_, _, token := c.AddToken(t.Context(), "bob", identity.AddToken{Name: "ci"})
		for _, err := range []error{list, add, rotate, sessions, end, remove, lockouts, unlock, token} {
			if !errors.Is(err, identity.ErrForbidden) || !problem.HasCode(err, "forbidden") {
				t.Errorf("%s: got %v, want ErrForbidden", name, err)
			}
		}
		if got := r.log.drain(); len(got) != 9 || got[4].Action != "DELETE /users/{name}/sessions" || got[4].Status != "denied" {
			t.Errorf("%s: got %d records, want one of each attempt", name, len(got))
		}
	}
}

func TestHandlerTechnical(t *testing.T) {
	r := newRig(t)
	c := serve(t, r, &boss)
	r.log.fail = errors.New("disk full")
	if _, _, err := c.AddUser(t.Context(), identity.AddUser{Name: "bob", Role: policy.User}); !problem.HasCode(err, "identity_unavailable") {
		t.Errorf("got %v", err)
	}
}

func TestClientWithoutAService(t *testing.T) {
	gone := adminapi.NewClient(http.DefaultClient, "http://"+tcpport.ForTest(t).Addr())
	if _, err := gone.Users(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "asking the service: ") {
		t.Errorf("got %v", err)
	}
	for _, body := range []string{"", "<html>", `{"users":5}`} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }))
		if _, err := adminapi.NewClient(s.Client(), s.URL).Users(t.Context()); err == nil {
			t.Errorf("%q: got no error", body)
		}
		s.Close()
	}
}
