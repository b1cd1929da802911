package redact_test

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/svc-gateway/svc/caddymodule/auth"
	"github.com/svc-gateway/svc/caddymodule/auth/caddytest"
)

// TestKnownSecrets sends values that nothing announces.
func TestKnownSecrets(t *testing.T) {
	const fromEnv, fromFile = "tiger lion/42", "upstream-key-from-file!!"
	t.Setenv("UPSTREAM_KEY", fromEnv)
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(fromFile+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	srv := serve(t, "secret {env.UPSTREAM_KEY} {file."+file+"}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", r.Header.Get("X-Type"))
		w.Header().Set("X-Debug", "using "+fromEnv)
		io.Copy(w, r.Body)
	})
	for _, tt := range []struct{ name, media, body, want string }{
		{"plain", "text/plain", "key " + fromEnv + " and " + fromFile + ".", "key REDACTED and REDACTED."},
		{"document", "application/json", `{"a":"tiger lion\/42"}`, `{"a":"REDACTED"}`},
		{"in a URL", "text/plain", "?k=" + url.QueryEscape(fromEnv), "?k=REDACTED"},
		{"base64", "text/plain", base64.StdEncoding.EncodeToString([]byte(fromFile)), "REDACTED"},
		{"events", "text/event-stream", "data: {\"a\":\"tiger li\"}\n\ndata: {\"a\":\"on/42 x\"}\n\n", "data: {\"a\":\"\"}\n\ndata: {\"a\":\"REDACTED x\"}\n\n"},
		{"lines", "application/x-ndjson", "{\"a\":\"tiger li\"}\n{\"a\":\"on/42 x\"}\n", "{\"a\":\"\"}\n{\"a\":\"REDACTED x\"}\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			resp, got := srv.Do(http.MethodPost, "/", tt.body, "X-Type", tt.media)
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if got := resp.Header.Get("X-Debug"); got != "using REDACTED" {
				t.Errorf("X-Debug: %q", got)
			}
		})
	}
}

// TestShownCredentials holds that an upstream which echoes what a client has shown, or what it got
// from it, does not send it back.
func TestShownCredentials(t *testing.T) {
	srv := serve(t, "", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		io.WriteString(w, `{"headers":["`+token+`","`+base64.StdEncoding.EncodeToString([]byte(token))+`"],"cookies":"`+r.Header.Get("Cookie")+`","other":"tiger lion 43"}`)
	})
	for range 2 { // the second time from the cache
		_, got := srv.Send(srv.Request(http.MethodGet, "/", "", "Authorization", "Bearer tiger-lion-4233", "Cookie", "theme=dark-and-plain; sessionid=elephant-ape"))
		if want := `{"headers":["REDACTED","REDACTED"],"cookies":"theme=dark-and-plain; sessionid=REDACTED","other":"tiger lion 43"}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if _, got := srv.Send(srv.Request(http.MethodGet, "/", "", "Authorization", "Bearer short")); !strings.Contains(got, `"short"`) {
		t.Errorf("a word of few letters: got %s", got)
	}
}

// TestStrippedCredentials is the same behind svc_auth, which takes the credentials out.
func TestStrippedCredentials(t *testing.T) {
	var token string
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "" {
			t.Errorf("the upstream got %q", got)
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"seen":"`+base64.StdEncoding.EncodeToString([]byte(token))+`"}`)
	}))
	t.Cleanup(up.Close)
	srv := caddytest.Start(t, caddytest.Config{Site: "svc_auth\nsvc_redact\nreverse_proxy " + up.URL})
	token = srv.Token
	_, got := srv.Do(http.MethodGet, "/", "")
	if code := base64.StdEncoding.EncodeToString([]byte(token)); strings.Contains(got, code[:20]) || !strings.Contains(got, "REDACTED") {
		t.Errorf("got %s", got)
	}
}
