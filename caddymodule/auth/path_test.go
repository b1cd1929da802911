package auth_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svc-gateway/svc/caddymodule/auth/caddytest"
	"github.com/svc-gateway/svc/policy"
)

// An application of one page has every path rewritten to it, and people must be able to log in.
func TestLoginPageBesideTryFiles(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "index.html"), []byte("the application"), 0o600); err != nil {
		t.Fatal(err)
	}
	srv := caddytest.Start(t, caddytest.Config{Site: "root * " + root + "\nsvc_auth\ntry_files {path} /index.html\nfile_server"})
	resp, _ := srv.Send(srv.Request(http.MethodGet, "/some/view?x=1", "", "Accept", accept))
	if got := resp.Header.Get("Location"); got != "/auth/login?next=%2Fsome%2Fview%3Fx%3D1" {
		t.Fatalf("got %s to %q", resp.Status, got)
	}
	resp, body := srv.Send(srv.Request(http.MethodGet, "/auth/login?next=%2Fsome%2Fview", "", "Accept", accept))
	if resp.StatusCode != http.StatusOK || !strings.Contains(body, "<form") {
		t.Fatalf("the login page: got %s %s", resp.Status, body)
	}
	cookie := login(t, srv, "/auth", srv.Token)
	for path, want := range map[string]string{"/some/view": "the application", "/": "the application", "/auth/account": "Account", "/auth/whoami": `"user":"admin"`} {
		if resp, body := srv.Send(srv.Request(http.MethodGet, path, "", "Accept", accept, "Cookie", "svc_token="+cookie.Value)); resp.StatusCode != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s: got %s %s, want %q", path, resp.Status, body, want)
		}
	}
	if resp, _ := srv.Send(srv.Request(http.MethodGet, "/auth/users", "")); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("what is not open: got %s", resp.Status)
	}
}

// The attack: a user asks for the part of admins by a path that this server takes for another one
// than the server behind.
func TestPathsThatServersReadDifferently(t *testing.T) {
	up := upstream(t)
	srv := caddytest.Start(t, caddytest.Config{Site: "svc_auth /admins* {\nrequire admin\n}\nsvc_auth\nreverse_proxy " + up.URL})
	srv.Token = srv.AddUser("ursula", policy.User, time.Time{})
	for path, want := range map[string]int{
		"/x": 200, "/x;v=1/y": 200, "/x/..x/y": 200, "/x/...;/y": 200,
		"/admins": 403, "/admins/": 403, "/admins/x": 403, "/ADMINS/x": 403, "/admins;a=1/x": 403, "/%61dmins/x": 403, "/admins%2Fx": 403,
		"//admins/x": 403, "/x/../admins/x": 403, "/x/%2e%2e/admins": 403,
		"/x/..;/admins/x": 400, "/x/..;a=1/admins": 400, "/x/%2e%2e;/admins": 400, "/.;/admins": 400, "/x/..%3B/admins": 400,
		"/x%5C..%5Cadmins": 400, "/%5Cadmins": 400, "/x%5Cadmins": 400, "/%5c%5cadmins": 400,
		"/;/admins": 400, "/;a=1/admins": 400, "/%3B/admins": 400, "/x//;/admins": 400, "/;": 400,
	} {
		resp, body := srv.Do(http.MethodGet, path, "")
		if resp.StatusCode != want || want == 400 && !strings.Contains(body, `"code":"path_ambiguous"`) {
			t.Errorf("%s: got %s %s, want %d", path, resp.Status, body, want)
		}
	}
	srv.Eventually("the refusal is on record", func() bool {
		return len(srv.Audit(`select 1 from audit_events where type = 'request' and code = 400 and reasons = '["path_ambiguous"]'`)) == 14
	})
}
