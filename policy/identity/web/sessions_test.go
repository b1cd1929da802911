package web_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

// ids are the session ids in an answer with one list.
func ids(t *testing.T, body, list string) []string {
	t.Helper()
	var got map[string][]identity.Session
	if err := json.Unmarshal([]byte(body), &got); err != nil || got[list] == nil {
		t.Fatalf("no %s: %v: %s", list, err, body)
	}
	all := []string{}
	for _, s := range got[list] {
		all = append(all, s.ID)
	}
	return all
}

func TestSessions(t *testing.T) {
	r := newRig(t)
	alice, boss := r.addUser(identity.AddUser{Name: "alice"}), r.addUser(identity.AddUser{Name: "boss", Role: policy.Admin})
	open := func(token string) (cookie, id string) {
		cookie = r.login(url.Values{"token": {token}})
		_, body := r.do(http.MethodGet, "/auth/whoami", "", cookie)
		var p policy.Principal
		if err := json.Unmarshal([]byte(body), &p); err != nil {
			t.Fatal(err)
		}
		return cookie, p.SessionID
	}
	a1, a1ID := open(alice)
	_, a2ID := open(alice)
	b1, b1ID := open(boss)

	for _, tt := range []struct {
		name, cookie, query string
		status              int
		want                []string
	}{
		{"own, the newest first", a1, "", 200, []string{a2ID, a1ID}},
		{"own, by name", a1, "?user=alice", 200, []string{a2ID, a1ID}},
		{"of somebody else", a1, "?user=boss", 403, nil},
		{"of all", a1, "?all=true", 403, nil},
		{"not of all", a1, "?all=false", 200, []string{a2ID, a1ID}},
		{"an admin's own", b1, "", 200, []string{b1ID}},
		{"of somebody, for an admin", b1, "?user=alice", 200, []string{a2ID, a1ID}},
		{"of nobody", b1, "?user=nobody", 200, []string{}},
		{"of all, for an admin", b1, "?all=1", 200, []string{b1ID, a2ID, a1ID}},
		{"nonsense", b1, "?all=yes", 422, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			resp, body := r.do(http.MethodGet, "/auth/sessions"+tt.query, "", tt.cookie)
			if resp.StatusCode != tt.status {
				t.Fatalf("got %s %s", resp.Status, body)
			}
			if tt.want == nil {
				return
			}
			if d := cmp.Diff(tt.want, ids(t, body, "sessions")); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if strings.Contains(body, "svc_") {
				t.Errorf("a secret is shown: %s", body)
			}
		})
	}

	resp, body := r.do(http.MethodDelete, "/auth/sessions/"+b1ID, "", a1)
	if resp.StatusCode != http.StatusNotFound || code(resp, body) != "session_not_found" {
		t.Errorf("ending somebody else's: got %s %s", resp.Status, body)
	}
	resp, body = r.do(http.MethodDelete, "/auth/sessions/"+a2ID, "", a1)
	if got := ids(t, body, "ended"); resp.StatusCode != http.StatusOK || !slices.Equal(got, []string{a2ID}) {
		t.Errorf("ending an own one: got %s %s", resp.Status, body)
	}
	form := url.Values{"user": {"boss"}, "id": {b1ID}}.Encode()
	if resp, body = r.do(http.MethodPost, "/auth/sessions/end", form, a1, asForm, page); resp.StatusCode != http.StatusForbidden {
		t.Errorf("ending somebody else's with the form: got %s %s", resp.Status, body)
	}
	resp, body = r.do(http.MethodDelete, "/auth/sessions", "", a1, "Origin: https://evil.example")
	if resp.StatusCode != http.StatusForbidden || code(resp, body) != "cross_origin" {
		t.Errorf("ending all from another origin: got %s %s", resp.Status, body)
	}
	resp, body = r.do(http.MethodDelete, "/auth/sessions", "", a1)
	if got := ids(t, body, "ended"); resp.StatusCode != http.StatusOK || !slices.Equal(got, []string{a1ID}) {
		t.Errorf("ending all: got %s %s", resp.Status, body)
	}
	if resp, _ := r.do(http.MethodGet, "/auth/whoami", "", a1); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("an ended session: got %s", resp.Status)
	}
}

// Users are managed below the same prefix, by admins.
func TestUsers(t *testing.T) {
	r := newRig(t)
	alice, boss := r.addUser(identity.AddUser{Name: "alice"}), r.addUser(identity.AddUser{Name: "boss", Role: policy.Admin})
	for token, want := range map[string]int{alice: http.StatusForbidden, boss: http.StatusOK} {
		if resp, body := r.do(http.MethodGet, "/auth/users", "", "Authorization: Bearer "+token); resp.StatusCode != want {
			t.Errorf("got %s %s, want %d", resp.Status, body, want)
		}
	}
	cookie := r.login(url.Values{"token": {boss}})
	resp, body := r.do(http.MethodPost, "/auth/users", `{"name":"carol","role":"user"}`, cookie, asJSON, "Sec-Fetch-Site: cross-site")
	if resp.StatusCode != http.StatusForbidden || code(resp, body) != "cross_origin" {
		t.Errorf("adding a user from another origin: got %s %s", resp.Status, body)
	}
	resp, body = r.do(http.MethodPost, "/auth/users", `{"name":"carol","role":"user"}`, cookie, asJSON)
	if resp.StatusCode != http.StatusCreated {
		t.Errorf("adding a user: got %s %s", resp.Status, body)
	}
}

func TestMethodsAndPaths(t *testing.T) {
	r := newRig(t)
	token := "Authorization: Bearer " + r.addUser(identity.AddUser{Name: "boss", Role: policy.Admin})
	for _, tt := range []struct {
		method, path string
		status       int
		allow        string
		location     string
	}{
		{"GET", "/auth", 303, "", "/auth/account"},
		{"GET", "/auth/", 303, "", "/auth/account"},
		{"HEAD", "/auth/login", 200, "", ""},
		{"HEAD", "/auth/whoami", 200, "", ""},
		{"PUT", "/auth/login", 405, "GET, HEAD, POST", ""},
		{"GET", "/auth/logout", 405, "POST", ""},
		{"POST", "/auth/whoami", 405, "GET, HEAD", ""},
		{"POST", "/auth/sessions", 405, "GET, HEAD, DELETE", ""},
		{"GET", "/auth/sessions/x", 405, "DELETE", ""},
		{"GET", "/auth/sessions/x/y", 404, "", ""},
		{"GET", "/auth/nothing", 404, "", ""},
		{"GET", "/auth/login/", 404, "", ""},
		{"GET", "/auth/oidc/../users", 404, "", ""},
		{"GET", "/auth/oidc/./corp", 404, "", ""},
		{"GET", "/auth//users", 404, "", ""},
		{"GET", "/auth/users/../lockouts", 404, "", ""},
		{"GET", "/auth/../users", 404, "", ""},
	} {
		resp, body := r.do(tt.method, tt.path, "", token)
		if resp.StatusCode != tt.status || resp.Header.Get("Allow") != tt.allow || resp.Header.Get("Location") != tt.location {
			t.Errorf("%s %s: got %s, Allow %q, Location %q: %s", tt.method, tt.path, resp.Status, resp.Header.Get("Allow"), resp.Header.Get("Location"), body)
		}
		if tt.method == "HEAD" && body != "" {
			t.Errorf("HEAD %s: got a body", tt.path)
		}
	}
	// Nothing but what must be is open.
	for _, path := range []string{"/auth", "/auth/account", "/auth/whoami", "/auth/sessions", "/auth/sessions/x", "/auth/users", "/auth/loginx", "/auth/login/x", "/auth/x/login", "/auth/oidc/../users", "/auth/oidc/..", "/auth/oidc//x"} {
		if resp, body := r.do(http.MethodGet, path, ""); resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s without a credential: got %s %s", path, resp.Status, body)
		}
	}
}

// Whoever logs in is told that the credential ends soon.
func TestWarnings(t *testing.T) {
	r := newRig(t)
	token := r.addUser(identity.AddUser{Name: "alice", Expires: time.Now().Add(time.Hour)})
	_, body := r.do(http.MethodPost, "/auth/login", `{"token":"`+token+`"}`, asJSON)
	if !strings.Contains(body, `"warnings":["The token or its user's account ends at `) {
		t.Errorf("the answer: got %s", body)
	}
	_, body = r.do(http.MethodGet, "/auth/account", "", "Authorization: Bearer "+token)
	if !strings.Contains(body, `role="alert">The token or its user&#39;s account ends at `) {
		t.Errorf("the page: got %s", body)
	}
}
