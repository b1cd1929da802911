package tools

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/fetch"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/audit/audittest"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/provenance"
	"github.com/svc-gateway/svc/scanner/redact"
)

func TestHTTPRequest(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		switch r.URL.Path {
		case "/to":
			w.Header().Set("Location", "/items")
			w.WriteHeader(http.StatusSeeOther)
		case "/broken":
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "done")
		case "/gone":
			panic(http.ErrAbortHandler)
		default:
			body, _ := io.ReadAll(r.Body)
			w.Header().Set("Location", "/items/7")
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, r.Method+" "+string(body))
		}
	}))
	defer s.Close()
	log := audittest.Open(t, filepath.Join(t.TempDir(), "audit.db"))
	conf := webOf(t, s.URL)
	conf.Credentials = []fetch.Credential{{Name: "shop", Origin: s.URL, Header: "X-Api-Key", Value: "tiger-lion-42"}}
	q := requester{fetch.New(conf), nil, log}
	request := func(method, path string) map[string]any { return map[string]any{"method": method, "url": s.URL + path} }
	whole := request("POST", "/items")
	whole["body"], whole["headers"] = `{"a":1}`, map[string]any{"Content-Type": "application/json"}
	for _, tc := range []struct {
		name     string
		args     map[string]any
		approved bool
		want     string
		err      string
	}{
		{"a write", whole, true, "POST " + s.URL + "/items\n201 Created, text/plain, 12 bytes\nLocation: /items/7\n\nPOST {\"a\":1}", ""},
		{"a write that nobody approved", whole, false, "", "a request with POST is made when a person has approved it, and nobody has"},
		{"a read", request("GET", "/to"), false, "GET " + s.URL + "/to\nredirected (303) to " + s.URL + "/items\n201 Created, text/plain, 4 bytes\nLocation: /items/7\n\nGET ", ""},
		{"a head", request("HEAD", "/items"), false, "HEAD " + s.URL + "/items\n201 Created, text/plain, 5 bytes\nLocation: /items/7\n", ""},
		{"a redirected write", request("DELETE", "/to"), true, "DELETE " + s.URL + "/to\n303 See Other, text/plain, 0 bytes\nLocation: /items\n\n[the document is empty]\n" +
			"[a redirect of a request that writes is not followed: the server may have carried it out; Location says where it leads]\n", ""},
		{"an answer that breaks off", request("PUT", "/broken"), true, "PUT " + s.URL + "/broken\n200 OK, text/plain, 100 bytes\n" +
			"[the server has answered, and the rest of its answer cannot be read: do not send the request again]\n", ""},
		{"no answer", request("PATCH", "/gone"), true, "[PATCH " + s.URL + "/gone was sent, and no answer came: nobody knows whether it was carried out. Do not send it again; look at the server first]\n", "the outcome is unknown"},
		{"another method", request("TRACE", "/"), true, "", "method: it is none of GET"},
		{"another argument", map[string]any{"method": "GET", "url": s.URL, "timeout": 1}, false, "", `unknown argument "timeout"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, err := q.run(t.Context(), agents.ToolContext{Run: "r", Call: tc.name, Approved: tc.approved}, tc.args)
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("got %v", err)
			}
			if d := cmp.Diff(tc.want, r.Text); d != "" {
				t.Error(d)
			}
		})
	}
	var got []string
	for _, e := range audittest.Events(t, log, audit.Filter{Run: "r"}) {
		if e.Call == "a write" || e.Call == "a read" {
			got = append(got, e.Tool+" "+e.Status+" "+e.Input)
		}
	}
	address := strings.TrimPrefix(s.URL, "http://")
	want := []string{
		`http_request success {"method":"POST","host":"` + address + `","address":"` + address + `","times":1}`,
		`http_request success {"method":"GET","host":"` + address + `","address":"` + address + `","times":2}`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// What the gate, the policy and people know of a request.
func TestHTTPRequestClass(t *testing.T) {
	secrets := redact.NewSecrets().With("tiger-lion-42")
	const u = "https://api.example/items"
	conf := webOf(t, "api.example")
	conf.Secrets, conf.Credentials = secrets, []fetch.Credential{{Name: "shop", Origin: "https://api.example", Header: "X-Api-Key", Value: "tiger-lion-42"}}
	tool := HTTPRequest(fetch.New(conf), secrets, nil, time.Minute)
	write := []string{"http_write"}
	for _, tc := range []struct {
		name       string
		args       map[string]any
		expanded   string
		action     policy.Action
		categories []string
		refused    string
	}{
		{"a read", map[string]any{"method": "GET", "url": u}, `{"method":"GET","url":"` + u + `"}`, policy.Use, nil, ""},
		{"a write", map[string]any{"method": "DELETE", "url": u}, `{"method":"DELETE","url":"` + u + `"}`, policy.Mutate, write, ""},
		{"JSON", map[string]any{"method": "POST", "url": u, "body": `{"a":1}`}, `{"body":"{\"a\":1}","headers":{"Content-Type":"application/json"},"method":"POST","url":"` + u + `"}`, policy.Mutate, write, ""},
		{"JSON of another type", map[string]any{"method": "POST", "url": u, "body": `1`, "headers": map[string]any{"content-TYPE": "text/csv"}}, `{"body":"1","headers":{"content-TYPE":"text/csv"},"method":"POST","url":"` + u + `"}`, policy.Mutate, write, ""},
		{"no JSON", map[string]any{"method": "POST", "url": u, "body": `a`}, `{"body":"a","method":"POST","url":"` + u + `"}`, policy.Mutate, nil, "Content-Type"},
		{"a word that is masked", map[string]any{"method": "PUT", "url": u, "body": `{"user":"eve","password":"hunter2hunter2"}`}, `{"body":"{\"user\":\"eve\",\"password\":\"hunter2hunter2\"}","headers":{"Content-Type":"application/json"},"method":"PUT","url":"` + u + `"}`, policy.Mutate, write, ""},
		{"more than a word that is masked", map[string]any{"method": "PUT", "url": u, "body": `{"user":"eve","password":"hunter2,role:admin;hunter2"}`}, `{"body":"{\"user\":\"eve\",\"password\":\"hunter2,role:admin;hunter2\"}","headers":{"Content-Type":"application/json"},"method":"PUT","url":"` + u + `"}`, policy.Mutate, nil, "body: what looks like a credential"},
		{"another server", map[string]any{"method": "GET", "url": "https://evil.example"}, `{"method":"GET","url":"https://evil.example"}`, policy.Mutate, nil, "url: this may not be fetched"},
		{"a credential", map[string]any{"method": "GET", "url": u, "headers": map[string]any{"Authorization": "Bearer x"}}, `{"headers":{"Authorization":"Bearer x"},"method":"GET","url":"` + u + `"}`, policy.Mutate, nil, "credentials are never arguments"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			doc, err := tool.Expand(agents.ToolContext{}, tc.args)
			if d := cmp.Diff(tc.expanded, string(doc)); d != "" || err != nil {
				t.Errorf("%v %s", err, d)
			}
			if tc.name == "JSON" { // what was added is there when people are asked
				tc.args["headers"] = map[string]any{"Content-Type": "application/json"}
			}
			if strings.Contains(tc.name, "masked") {
				tc.args["headers"] = map[string]any{"Content-Type": "application/json"}
			}
			class := tool.Class(tc.args)
			if d := cmp.Diff(tc.categories, class.Categories); d != "" || class.Action != tc.action {
				t.Errorf("action %s, categories %s", class.Action, d)
			}
			if (class.Refused == "") != (tc.refused == "") || tc.refused != "" && (!strings.HasPrefix(class.Refused, "request_not_allowed: ") || !strings.Contains(class.Refused, tc.refused)) {
				t.Errorf("refused: got %q, want %q", class.Refused, tc.refused)
			}
			if class.Refused == "" && class.Where != "on the host, over the network, with the credential shop" {
				t.Errorf("got %q", class.Where)
			}
			if d := cmp.Diff([]provenance.Target{{Argument: "url", Kind: provenance.URL, Value: tc.args["url"].(string)}}, class.Targets); d != "" {
				t.Error(d)
			}
		})
	}
}
