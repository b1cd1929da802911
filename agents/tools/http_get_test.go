package tools

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/fetch"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/audit/audittest"
	"github.com/svc-gateway/svc/internal/reach"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/provenance"
)

// webOf asks these hosts, also when they are this one.
func webOf(t *testing.T, hosts ...string) fetch.Config {
	t.Helper()
	list, err := reach.ParseHosts(hosts)
	if err != nil {
		t.Fatal(err)
	}
	return fetch.Config{Hosts: list, Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}
}

func TestHTTPGet(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		switch r.URL.Path {
		case "/a":
			w.Header().Set("Location", "/b")
			w.WriteHeader(http.StatusFound)
		case "/b":
			_, _ = w.Write([]byte("found"))
		case "/long":
			_, _ = w.Write([]byte(strings.Repeat("long ", 1000)))
		case "/bytes":
			_, _ = w.Write([]byte{0, 1, 2})
		}
	}))
	defer s.Close()
	log := audittest.Open(t, filepath.Join(t.TempDir(), "audit.db"))
	conf := webOf(t, s.URL, "http://127.0.0.2")
	conf.Size = 1 << 10
	client := fetch.New(conf)
	g := getter{client, log}
	for _, tc := range []struct {
		name string
		args map[string]any
		want string
		err  string
	}{
		{"redirected", map[string]any{"url": s.URL + "/a"}, "GET " + s.URL + "/a\nredirected (302) to " + s.URL + "/b\n200 OK, text/plain, 5 bytes\n\nfound", ""},
		{"cut", map[string]any{"url": s.URL + "/long"}, "[cut: the first 1024 bytes of text are shown]\n", ""},
		{"no text", map[string]any{"url": s.URL + "/bytes"}, "[this is not text, and is not shown]\n", ""},
		{"nothing", map[string]any{"url": s.URL + "/"}, "[the document is empty]\n", ""},
		{"not listed", map[string]any{"url": "https://example.com/"}, "", "example.com is not one of the hosts"},
		{"an address that is not listed", map[string]any{"url": "http://127.0.0.2/"}, "", "is not public, and not listed"},
		{"no URL", map[string]any{}, "", `the argument "url" is missing`},
		{"another argument", map[string]any{"url": s.URL, "headers": "a: b"}, "", `unknown argument "headers"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, err := g.run(t.Context(), agents.ToolContext{Run: "r", Call: tc.name}, tc.args)
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) || !strings.HasSuffix(r.Text, tc.want) {
				t.Errorf("got %q, %v", r.Text, err)
			}
		})
	}
	var got []string
	for _, e := range audittest.Events(t, log, audit.Filter{Run: "r"}) {
		if e.Call == "redirected" || e.Status == "denied" {
			got = append(got, e.Tool+" "+e.Status+" "+e.Input)
		}
	}
	address := strings.TrimPrefix(s.URL, "http://")
	want := []string{
		`http_get success {"method":"GET","host":"` + address + `","address":"` + address + `","times":2}`,
		`http_get denied {"method":"GET","host":"127.0.0.2:80","times":1}`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}

	// What the gate and the policy know of a call.
	tool := HTTPGet(client, log, time.Minute)
	class := tool.Class(map[string]any{"url": s.URL + "/a"})
	if d := cmp.Diff([]provenance.Target{{Argument: "url", Kind: provenance.URL, Value: s.URL + "/a"}}, class.Targets); d != "" || class.Action != policy.Use || class.Refused != "" {
		t.Errorf("got %+v\n%s", class, d)
	}
	if class := tool.Class(map[string]any{"url": "https://example.com"}); !strings.HasPrefix(class.Refused, "url_not_allowed: ") {
		t.Errorf("got %+v", class)
	}
}
