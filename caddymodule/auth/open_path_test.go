package auth_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/caddymodule/auth/caddytest"
)

const openSite = "svc_auth {\nopen /public/* /hook\nidentity_headers {\nuser X-User\n}\nassertion\n}\n"

// forgedFields are identity headers in every spelling, in lines that begin with a newline.
func forgedFields() string {
	var b strings.Builder
	for _, header := range []string{"Remote-User", "Remote-Role", "Remote-Groups", "Remote-Name", "Remote-Email", "X-User", "X-Svc-Assertion", "X-Svc-Role"} {
		fmt.Fprintf(&b, "\n%s: forged\n%s: forged\n%s: forged\n%s: forged", header, strings.ToLower(header), strings.ToUpper(header), strings.ReplaceAll(header, "-", ""))
		for _, sign := range signs {
			fmt.Fprintf(&b, "\n%s: forged", strings.ReplaceAll(header, "-", string(sign)))
		}
	}
	return strings.ReplaceAll(b.String(), "%", "%%")
}

// The attack: on a path that needs no credential a client tells the server behind who it is.
func TestForgedOnOpenPaths(t *testing.T) {
	up := gateway(t)
	srv := caddytest.Start(t, caddytest.Config{Site: openSite + "reverse_proxy " + up.URL})
	inBody := "Remote-User: forged\nremote_role: forged\nX-User: forged\nX-Svc-Assertion: forged\nX-Forwarded-Uri: forged\n"
	check := func(t *testing.T) {
		for _, target := range []string{"/public/x", "/hook", "/private"} {
			for name, request := range map[string]string{
				"headers":              "GET " + target + " HTTP/1.1\n%s" + forgedFields() + "\n\n",
				"listed in Connection": "GET " + target + " HTTP/1.1\n%s\nConnection: Remote-User, X-User, X-Request-Id, X-Forwarded-For\nRemote-User: forged\n\n",
				"other paths":          "GET " + target + " HTTP/1.1\n%s\nX-Original-URL: /forged\nX_Rewrite_Url: /forged\nX-Forwarded-Uri: /forged\nX-HTTP-Method-Override: forged\n\n",
				"trailers":             "POST " + target + " HTTP/1.1\n%s\nTransfer-Encoding: chunked\nTrailer: Remote-User, remote_role, X-User, X-Svc-Assertion, X-Forwarded-Uri\n\n2\nhi\n0\n" + inBody + "\n",
				"unannounced trailers": "POST " + target + " HTTP/1.1\n%s\nTransfer-Encoding: chunked\n\n2\nhi\n0\n" + inBody + "\n",
			} {
				if name == "other paths" && target == "/private" {
					continue // there they are of somebody who is known
				}
				env := raw(t, srv, request)
				for variable, values := range env {
					if got := strings.Join(values, " "); strings.Contains(got, "forged") || strings.Contains(got, "svc_") {
						t.Errorf("%s, %s: %s is %q", target, name, variable, values)
					}
				}
				who := map[string]string{"/private": "admin"}[target]
				if got := strings.Join(env["HTTP_X_USER"], " "); got != who {
					t.Errorf("%s, %s: got user %q, want %q", target, name, got, who)
				}
				if signed := env["HTTP_X_SVC_ASSERTION"] != nil; signed != (who != "") {
					t.Errorf("%s, %s: there is an assertion: %v", target, name, signed)
				}
			}
		}
	}
	t.Run("Caddyfile", check)
	srv.LoadJSON(func(doc map[string]any) {
		var handler map[string]any
		walk(doc, func(m map[string]any) {
			if m["handler"] == "svc_auth" {
				handler = m
			}
		})
		clear(handler)
		handler["handler"] = "svc_auth"
		handler["open"] = []string{"/public/*", "/hook"}
		handler["identity_headers"] = map[string]string{"user": "X-User"}
		handler["assertion"] = map[string]string{}
	})
	t.Run("JSON", check)
}

// The attack: the same on paths that the matcher of svc_auth leaves out.
func TestForgedBesideAMatcher(t *testing.T) {
	up := gateway(t)
	for name, site := range map[string]string{
		"a matcher":       "svc_auth /private* {\nidentity_headers {\nuser X-User\n}\nassertion\n}\nreverse_proxy " + up.URL,
		"one of two":      "svc_auth /private* {\nidentity_headers {\nuser X-User\n}\nassertion\n}\nsvc_auth /other*\nreverse_proxy " + up.URL,
		"in a route":      "route {\nsvc_auth /private* {\nidentity_headers {\nuser X-User\n}\nassertion\n}\nreverse_proxy " + up.URL + "\n}",
		"a named matcher": "@private path /private*\nsvc_auth @private {\nidentity_headers {\nuser X-User\n}\nassertion\n}\nreverse_proxy " + up.URL,
	} {
		t.Run(name, func(t *testing.T) {
			srv := caddytest.Start(t, caddytest.Config{Site: site})
			for _, target := range []string{"/public", "/private"} {
				for _, request := range []string{
					"GET " + target + " HTTP/1.1\n%s\nUpgrade: h2c\nConnection: Upgrade, HTTP2-Settings, X-User" + forgedFields() + "\n\n",
					"POST " + target + " HTTP/1.1\n%s\nTransfer-Encoding: chunked\nTrailer: Remote-User, X-User\n\n2\nhi\n0\nRemote-User: forged\nX-User: forged\n\n",
				} {
					env := raw(t, srv, request)
					for variable, values := range env {
						if strings.Contains(strings.Join(values, " "), "forged") || variable == "HTTP_UPGRADE" {
							t.Errorf("%s: %s is %q", target, variable, values)
						}
					}
					want := map[string]string{"/private": "admin"}[target]
					if got := strings.Join(env["HTTP_X_USER"], " "); got != want {
						t.Errorf("%s: got user %q, want %q", target, got, want)
					}
				}
			}
		})
	}
}

// walk calls f with each object in a document.
func walk(v any, f func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		f(v)
		for _, member := range v {
			walk(member, f)
		}
	case []any:
		for _, e := range v {
			walk(e, f)
		}
	}
}

// Nobody reaches a path that is not open by a name for it that looks like one that is. On one that is,
// svc_policy matches nobody.
func TestOpenPathsOpenNothingElse(t *testing.T) {
	up := gateway(t)
	srv := caddytest.Start(t, caddytest.Config{Site: "svc_auth {\nopen /public/*\n}\nsvc_auth /admins* {\nrequire admin\n}\n@anybody svc_policy `true`\nrespond @anybody 418\nrewrite /old/* /public/x\nreverse_proxy " + up.URL})
	for target, want := range map[string]int{
		"/public/x":                   http.StatusOK,
		"/public/x?a=/../admins":      http.StatusOK,
		"/public/../admins":           http.StatusUnauthorized,
		"/public/%2e%2e/admins":       http.StatusUnauthorized,
		"/public/..%2fadmins":         http.StatusUnauthorized,
		"/public/%252e%252e%252fadm":  http.StatusUnauthorized,
		"//public/x":                  http.StatusUnauthorized,
		"/public//../../admins":       http.StatusUnauthorized,
		"/public/x;/../../admins":     http.StatusUnauthorized,
		"/public/..;/admins":          http.StatusBadRequest,
		"/public/..%5cadmins":         http.StatusBadRequest,
		"/admins/../public/x":         http.StatusUnauthorized,
		"/PUBLIC/x":                   http.StatusUnauthorized,
		"/old/x":                      http.StatusUnauthorized, // what a rewrite makes of it was not asked for
		"/public/%EF%BC%8E%EF%BC%8E/": http.StatusUnauthorized,
		"/":                           http.StatusUnauthorized,
	} {
		req, err := http.NewRequest(http.MethodGet, srv.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.URL.Opaque = strings.TrimPrefix(srv.URL, "http:") + target
		resp, err := caddytest.Client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: got %d, want %d", target, resp.StatusCode, want)
		}
	}
}

func TestWarningOfUnguardedPaths(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	srv := caddytest.Start(t, caddytest.Config{Log: log, Site: "svc_auth\nreverse_proxy localhost:1"})
	for name, tt := range map[string]struct{ site, want string }{
		"all":               {"svc_auth {\nopen /public/*\n}\nreverse_proxy localhost:1", ""},
		"in a route":        {"route {\nsvc_auth\nreverse_proxy localhost:1\n}", ""},
		"a second for some": {"svc_auth /admins* {\nrequire admin\n}\nsvc_auth\nreverse_proxy localhost:1", ""},
		"files only":        {"handle /api/* {\nsvc_auth\nreverse_proxy localhost:1\n}\nhandle {\nfile_server\n}", ""},
		"in each":           {"handle /api/* {\nsvc_auth\nreverse_proxy localhost:1\n}\nhandle {\nsvc_auth\nreverse_proxy localhost:2\n}", ""},
		"none":              {"reverse_proxy localhost:1", ""},
		"a block of two":    {"handle /api/* {\nsvc_auth\nreverse_proxy localhost:1\n}\nhandle /pages/* {\nreverse_proxy localhost:2\n}", "reverse_proxy localhost:2 in /pages/*"},
		"a fallback":        {"handle_path /api/* {\nsvc_auth\nreverse_proxy localhost:1\n}\nhandle {\nreverse_proxy localhost:3\n}", "reverse_proxy localhost:3"},
		"a matcher":         {"svc_auth /api/*\nreverse_proxy localhost:4", ""},
		"one in a block":    {"handle /a/* {\nsvc_auth /a/b*\nreverse_proxy localhost:4\n}\nhandle /b/* {\nreverse_proxy localhost:7\n}", "reverse_proxy localhost:7 in /b/*"},
		"after the proxy":   {"route {\nreverse_proxy /x localhost:5\nsvc_auth\nreverse_proxy localhost:6\n}", "reverse_proxy localhost:5 in /x"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.Truncate(log, 0); err != nil {
				t.Fatal(err)
			}
			srv.Load(tt.site)
			text, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			warned := strings.Count(string(text), "guards a part of this site only")
			if tt.want == "" && warned != 0 || tt.want != "" && (warned != 1 || !strings.Contains(string(text), `"unguarded":"`+tt.want+`"`)) {
				t.Errorf("want %q, got %d warnings:\n%s", tt.want, warned, grep(string(text), "guards a part"))
			}
		})
	}
}

// grep returns the lines that have a word in them.
func grep(text, word string) string {
	var found []string
	for line := range strings.Lines(text) {
		if strings.Contains(line, word) {
			found = append(found, line)
		}
	}
	return strings.Join(found, "")
}
