package redact_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

const issued = `{"access_token":"q2Lr9Tn4Vd0WkJm3","token_type":"Bearer","expires_in":3600,"refresh_token":"Zc8Hf5Ye6Ua1PsB7","note":"password: hunter2tiger"}`

// leaky answers with secrets in its header and body.
func leaky(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("ETag", `"1"`)
	w.Header().Set("X-Auth-Token", "q2Lr9Tn4Vd0WkJm3")
	w.Header().Set("Mcp-Session-Id", "1868a90c-7d11-4b6a-9a0e-2f6f6d4a6f10")
	w.Header().Set("X-Next-Page-Token", "AKIAQ3EGRIL2VN7UTXJ5")
	if r.URL.Path == "/token" {
		io.WriteString(w, issued)
		return
	}
	io.WriteString(w, `{"password":"hunter2tiger","jwt":"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl","own":"tiger-lion-42"}`)
}

func TestAllow(t *testing.T) {
	const clean = `{"password":"REDACTED","jwt":"REDACTED","own":"REDACTED"}`
	for _, tt := range []struct{ name, options, method, path, want, header string }{
		{"nothing", "", "GET", "/", clean, "REDACTED"},
		{"a header", "allow header x-auth-token", "GET", "/", clean, "q2Lr9Tn4Vd0WkJm3"},
		{"a field", "allow field password", "GET", "/", `{"password":"hunter2tiger","jwt":"REDACTED","own":"REDACTED"}`, "REDACTED"},
		{"a rule", "allow rule json_web_token", "GET", "/", `{"password":"REDACTED","jwt":"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl","own":"REDACTED"}`, "REDACTED"},
		{"a path", "allow path /keys/*", "GET", "/keys/1", `{"password":"hunter2tiger","jwt":"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl","own":"REDACTED"}`, "q2Lr9Tn4Vd0WkJm3"},
		{"another path", "allow path /keys/*", "GET", "/key", clean, "REDACTED"},
		{"tokens, by default", "", "POST", "/token", strings.NewReplacer("q2Lr9Tn4Vd0WkJm3", "REDACTED", "Zc8Hf5Ye6Ua1PsB7", "REDACTED", "hunter2tiger", "REDACTED").Replace(issued), "REDACTED"},
		{"tokens pass", "oauth_tokens pass", "POST", "/token", strings.ReplaceAll(issued, "hunter2tiger", "REDACTED"), "REDACTED"},
		{"tokens of GET", "oauth_tokens pass", "GET", "/token", strings.NewReplacer("q2Lr9Tn4Vd0WkJm3", "REDACTED", "Zc8Hf5Ye6Ua1PsB7", "REDACTED", "hunter2tiger", "REDACTED").Replace(issued), "REDACTED"},
		{"no tokens", "oauth_tokens pass", "POST", "/", clean, "REDACTED"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := serve(t, "secret tiger-lion-42\n"+tt.options, leaky)
			resp, got := srv.Do(tt.method, tt.path, "")
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			for name, want := range map[string]string{"X-Auth-Token": tt.header, "Mcp-Session-Id": "1868a90c-7d11-4b6a-9a0e-2f6f6d4a6f10"} {
				if v := resp.Header.Get(name); v != want {
					t.Errorf("%s is %q, want %q", name, v, want)
				}
			}
			if v := resp.Header.Get("X-Next-Page-Token"); tt.name != "a path" && v != "REDACTED" {
				t.Errorf("a key of AWS in the name of a page is %q", v)
			}
		})
	}
}

func TestObserve(t *testing.T) {
	var upstream http.HandlerFunc = leaky
	srv := serve(t, "secret tiger-lion-42\nmode observe", func(w http.ResponseWriter, r *http.Request) { upstream(w, r) })
	resp, got := srv.Do(http.MethodGet, "/", "")
	if want := `{"password":"hunter2tiger","jwt":"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl","own":"tiger-lion-42"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if resp.Header.Get("ETag") == "" || resp.Header.Get("X-Auth-Token") != "q2Lr9Tn4Vd0WkJm3" {
		t.Errorf("the header was changed: %v", resp.Header)
	}
	upstream = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Range", "bytes 10-21/22")
		w.WriteHeader(http.StatusPartialContent)
		io.WriteString(w, "hunter2tiger")
	}
	if resp, got := srv.Do(http.MethodGet, "/", ""); resp.StatusCode != http.StatusPartialContent || got != "hunter2tiger" {
		t.Errorf("a part: got %d %s", resp.StatusCode, got)
	}
}
