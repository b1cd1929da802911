package fetch_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/textproto"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/http/httpguts"

	"github.com/svc-gateway/svc/agents/fetch"
	"github.com/svc-gateway/svc/internal/reach"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/scanner/redact"
)

func TestCheckRequest(t *testing.T) {
	const u = "https://api.example/items"
	list, err := reach.ParseHosts([]string{"api.example"})
	if err != nil {
		t.Fatal(err)
	}
	c := fetch.New(fetch.Config{
		Hosts: list, Secrets: redact.NewSecrets().With("tiger-lion-42"),
		Credentials: []fetch.Credential{{Name: "n", Origin: "https://api.example", Header: "X-Key-Of-Ours", Value: "tiger-lion-42"}},
	})
	header := func(method, name, value string) fetch.Request {
		return fetch.Request{Method: method, URL: u, Header: map[string]string{name: value}}
	}
	body := func(method, body string) fetch.Request {
		return fetch.Request{Method: method, URL: u, Body: body, Header: map[string]string{"Content-Type": "text/plain"}}
	}
	for _, tc := range []struct {
		name string
		r    fetch.Request
		want string // in the error
	}{
		{"read", fetch.Request{Method: "GET", URL: u}, ""},
		{"write", body("POST", "äöü\n\tx"), ""},
		{"write without a body", fetch.Request{Method: "DELETE", URL: u}, ""},
		{"a header of a read", header("GET", "accept", "text/csv"), ""},
		{"a header of a write", header("PUT", "X-Reason", "clean up"), ""},
		{"no method", fetch.Request{URL: u}, "method: it is none of GET, HEAD, POST, PUT, PATCH, DELETE"},
		{"lower case", fetch.Request{Method: "post", URL: u}, "method: "},
		{"CONNECT", fetch.Request{Method: "CONNECT", URL: u}, "method: "},
		{"TRACE", fetch.Request{Method: "TRACE", URL: u}, "method: "},
		{"two methods", fetch.Request{Method: "GET /x HTTP/1.1\r\nX: y\r\n\r\nDELETE", URL: u}, "method: "},
		{"another server", fetch.Request{Method: "POST", URL: "https://evil.example"}, "url: this may not be fetched: evil.example is not one"},
		{"a registered secret in the URL", fetch.Request{Method: "GET", URL: u + "?q=tiger-lion-42"}, "url: this may not be fetched: the URL holds a credential"},
		{"Host", header("POST", "hOST", "evil.example"), "headers: hOST: it belongs to the connection"},
		{"hop by hop", header("POST", "Transfer-Encoding", "chunked"), "it belongs to the connection"},
		{"of a proxy", header("POST", "Proxy-Connection", "x"), "it belongs to the connection"},
		{"a length", header("POST", "Content-Length", "0"), "it belongs to the connection"},
		{"another method", header("POST", "X-HTTP-Method-Override", "DELETE"), "another method"},
		{"another method of a read", header("GET", "X-HTTP-Method-Override", "DELETE"), "another method"},
		{"another user", header("POST", "X-Forwarded-User", "root"), "who asks"},
		{"not for reading", header("GET", "X-Do-It", "yes"), "a request that only reads has only headers that change nothing: accept, "},
		{"Authorization", header("GET", "Authorization", "Basic x"), "headers: Authorization: credentials are never arguments"},
		{"Cookie", header("POST", "Cookie", "a=b"), "credentials are never arguments"},
		{"x-api-key", header("POST", "x-api-key", "abc"), "credentials are never arguments"},
		{"a header of a credential", header("POST", "x-key-of-ours", "abc"), "credentials are never arguments"},
		{"a registered secret", header("POST", "X-Reason", "it is tiger-lion-42"), "credentials are never arguments"},
		{"what looks like a credential", header("POST", "X-Reason", "ghp_aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789"), "credentials are never arguments"},
		{"a line end", header("POST", "X-Reason", "a\r\nAuthorization: b"), "no line end"},
		{"a line end in a name", header("POST", "X-Reason: a\r\nX", "b"), "a name is not one of a header"},
		{"a name of two words", header("POST", "X Reason", "b"), "a name is not one of a header"},
		{"not ASCII", header("POST", "X-Reason", "é"), "ASCII"},
		{"nothing", header("POST", "X-Reason", ""), "ASCII"},
		{"a long value", header("POST", "X-Reason", strings.Repeat("ab ", 1000)+"a"), "3001 bytes"},
		{"twice", fetch.Request{Method: "POST", URL: u, Header: map[string]string{"X-A": "1", "x-a": "2"}}, "there twice"},
		{"a body of a read", body("GET", "x"), "body: a request with GET has none"},
		{"a long body", body("POST", strings.Repeat("x", 64<<10+1)), "body: it has 65537 bytes"},
		{"a body that is not seen", body("POST", "a\u202eb"), "do not see"},
		{"a body that rewrites a terminal", body("POST", "a\rb"), "do not see"},
		{"a body that is no text", body("POST", "\xff"), "do not see"},
		{"a body of no type", fetch.Request{Method: "POST", URL: u, Body: "x"}, "Content-Type"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := c.CheckRequest(tc.r)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if err != nil && strings.Contains(err.Error(), "tiger") {
				t.Errorf("the error has the secret: %v", err)
			}
			if _, done := c.Do(t.Context(), tc.r); err != nil && (done == nil || done.Error() != err.Error()) {
				t.Errorf("doing it: got %v, want %v", done, err)
			}
		})
	}
	many := map[string]string{}
	for i := range 21 {
		many[fmt.Sprint("X-", i)] = "a"
	}
	if err := c.CheckRequest(fetch.Request{Method: "POST", URL: u, Header: many}); err == nil || !strings.Contains(err.Error(), "there are 21: give at most 20") {
		t.Errorf("got %v", err)
	}
}

// Whatever header passes is one header, in one line, with no part in who asks, and is sent as it is.
func FuzzRequestHeader(f *testing.F) {
	for _, h := range [][2]string{{"Accept", "text/csv"}, {"HOST", "a"}, {"X-A", "b\r\nc: d"}, {"X A", "b"}, {"cookie", "a"}, {"X-\u0130", "ı"}, {"TE", "trailers"}, {"X-A", "a\x00"}} {
		f.Add(h[0], h[1], true)
		f.Add(h[0], h[1], false)
	}
	list, err := reach.ParseHosts([]string{"api.example"})
	if err != nil {
		f.Fatal(err)
	}
	c := fetch.New(fetch.Config{Hosts: list})
	f.Fuzz(func(t *testing.T, name, value string, write bool) {
		r := fetch.Request{Method: "GET", URL: "https://api.example/", Header: map[string]string{name: value}}
		if write {
			r.Method = "POST"
		}
		if c.CheckRequest(r) != nil {
			return
		}
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) || strings.ContainsAny(name+value, "\r\n\x00") || textproto.TrimString(value) != value {
			t.Errorf("passed: %q: %q", name, value)
		}
		switch http.CanonicalHeaderKey(name) {
		case "Host", "Connection", "Te", "Upgrade", "Transfer-Encoding", "Content-Length", "Authorization", "Proxy-Authorization", "Cookie", "X-Api-Key", "Forwarded", "X-Http-Method-Override":
			t.Errorf("passed: %q", name)
		}
		if !write && !strings.HasPrefix(strings.ToLower(name), "accept") && !strings.HasPrefix(strings.ToLower(name), "if-") && !strings.EqualFold(name, "prefer") && !strings.EqualFold(name, "cache-control") {
			t.Errorf("a read passed with %q", name)
		}
	})
}

// echo shows a request as it came.
func echo(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/to" {
		w.Header().Set("Location", r.URL.RawQuery)
		w.WriteHeader(http.StatusTemporaryRedirect)
		return
	}
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Etag", `"7"`)
	w.Header().Set("Content-Type", "text/plain")
	fmt.Fprintf(w, "%s %s auth=%q key=%q type=%q body=%q", r.Method, r.URL.Path, strings.ReplaceAll(r.Header.Get("Authorization"), "Bearer tiger-lion-42", "right"), r.Header.Get("X-Api-Key"), r.Header.Get("Content-Type"), body)
}

// A credential goes to its server alone, and to none that its server, or another one, leads to.
func TestCredentials(t *testing.T) {
	s, other := newSite(t, nil, echo), newSite(t, nil, echo)
	conf := s.config(t, "127.0.0.1:"+other.port)
	conf.Roots.AddCert(other.ca.Certificate.Leaf)
	conf.Credentials = []fetch.Credential{
		{Name: "one", Origin: "https://127.0.0.1:" + s.port, Header: "Authorization", Value: "Bearer tiger-lion-42"},
		{Name: "two", Origin: "https://127.0.0.1:" + other.port, Header: "X-Api-Key", Value: "eel-and-frog"},
	}
	c := fetch.New(conf)
	at, there := "https://127.0.0.1:"+s.port, "https://127.0.0.1:"+other.port
	for _, tc := range []struct {
		name string
		r    fetch.Request
		want string
	}{
		{"its server", fetch.Request{Method: "GET", URL: at + "/a"}, `GET /a auth="right" key="" type="" body=""`},
		{"a write", fetch.Request{Method: "PATCH", URL: at + "/a", Body: "{}", Header: map[string]string{"Content-Type": "application/json"}}, `PATCH /a auth="right" key="" type="application/json" body="{}"`},
		{"the other server", fetch.Request{Method: "DELETE", URL: there + "/a"}, `DELETE /a auth="" key="eel-and-frog" type="" body=""`},
		{"led on by its server", fetch.Request{Method: "GET", URL: at + "/to?/b"}, `GET /b auth="right" key="" type="" body=""`},
		{"led to the other server", fetch.Request{Method: "GET", URL: at + "/to?" + there + "/b"}, `GET /b auth="" key="" type="" body=""`},
		{"led away and back", fetch.Request{Method: "GET", URL: at + "/to?" + there + "/to?" + at + "/b"}, `GET /b auth="" key="" type="" body=""`},
		{"a write that leads elsewhere", fetch.Request{Method: "POST", URL: at + "/to?" + there + "/b"}, ``},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := other.came.Load()
			a, err := c.Do(t.Context(), tc.r)
			if err != nil || a.Text != tc.want {
				t.Errorf("got %q, %v, want %q", a.Text, err, tc.want)
			}
			if tc.r.Method != "POST" {
				return
			}
			if d := cmp.Diff([]string{"Location: " + there + "/b"}, a.Fields); d != "" || a.Status != 307 || other.came.Load() != before {
				t.Errorf("status %d, fields %s", a.Status, d)
			}
		})
	}
	if a, err := c.Get(t.Context(), at+"/a"); err != nil || !strings.Contains(a.Text, `auth=""`) {
		t.Errorf("getting a document: got %q, %v", a.Text, err)
	}
	a, err := c.Do(t.Context(), fetch.Request{Method: "HEAD", URL: at + "/a"})
	if d := cmp.Diff([]string{`Etag: "7"`}, a.Fields); err != nil || d != "" || a.Text != "" || a.Status != 200 {
		t.Errorf("got %+v, %v\n%s", a, err, d)
	}
	if d := cmp.Diff([]string{"two"}, c.For(there)); d != "" {
		t.Error(d)
	}
	if got := fmt.Sprintf("%v %+v %#v %s", conf.Credentials, conf.Credentials, conf.Credentials, conf.Credentials[0].Value); strings.Contains(got, "tiger") {
		t.Errorf("printed: %s", got)
	}

	// What the server repeats is redacted, whichever part of it is kept.
	conf.Secrets = redact.NewSecrets().With("tiger-lion-42", "eel-and-frog")
	for size := 20; size < 60; size++ {
		conf.Size = size
		if a, err := fetch.New(conf).Do(t.Context(), fetch.Request{Method: "GET", URL: there + "/a"}); err != nil || strings.Contains(a.Text, "eel-") {
			t.Errorf("%d bytes: got %q, %v", size, a.Text, err)
		}
	}
}

// Over plain http a credential goes to addresses that are not public only. Nothing is sent before that is known.
func TestCredentialInClear(t *testing.T) {
	list, err := reach.ParseHosts([]string{"http://192.0.2.1", "http://1.1.1.1"})
	if err != nil {
		t.Fatal(err)
	}
	c := fetch.New(fetch.Config{
		Hosts: list, Networks: []netip.Prefix{netip.MustParsePrefix("1.0.0.0/8")},
		Credentials: []fetch.Credential{{Name: "one", Origin: "http://1.1.1.1", Header: "Authorization", Value: "tiger-lion-42"}},
	})
	_, err = c.Do(t.Context(), fetch.Request{Method: "GET", URL: "http://1.1.1.1/"})
	if want := "a credential goes over plain http to addresses that are not public only, and 1.1.1.1:80 is at one that is"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// A write that is not answered is of unknown outcome and made once; one that was never sent is not.
func TestUnknown(t *testing.T) {
	var leave context.CancelFunc // by the client of the request that is being made
	s := newSite(t, nil, func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/gone" {
			panic(http.ErrAbortHandler)
		}
		leave()
		<-r.Context().Done()
	})
	for _, tc := range []struct {
		name, method, url string
		unknown           bool
		came              int64
	}{
		{"no answer in time", "POST", s.URL, true, 1},
		{"gone", "PUT", s.URL + "/gone", true, 1},
		{"a read", "GET", s.URL + "/gone", false, 1},
		{"never sent", "POST", "https://127.0.0.2:1/", false, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var ctx context.Context
			ctx, leave = context.WithCancel(t.Context())
			defer leave()
			before := s.came.Load()
			_, err := fetch.New(s.config(t, "127.0.0.2:1")).Do(ctx, fetch.Request{Method: tc.method, URL: tc.url})
			if err == nil || errors.Is(err, fetch.ErrUnknown) != tc.unknown || s.came.Load()-before != tc.came {
				t.Errorf("got %v after %d requests", err, s.came.Load()-before)
			}
		})
	}
}

func TestReadCredentials(t *testing.T) {
	for _, tc := range []struct {
		name   string
		c      settings.HTTPCredential
		value  string
		want   string // value of the header
		origin string
		err    string
	}{
		{"with a prefix", settings.HTTPCredential{Host: "API.example:443", Prefix: "Bearer"}, "tiger-lion-42", "Bearer tiger-lion-42", "https://api.example", ""},
		{"without", settings.HTTPCredential{Host: "http://10.1.2.3:8000"}, "tiger-lion-42", "tiger-lion-42", "http://10.1.2.3:8000", ""},
		{"with the prefix in it", settings.HTTPCredential{Host: "a.example"}, "Bearer tiger-lion-42", "", "", "stands in prefix"},
		{"with a line end in it", settings.HTTPCredential{Host: "a.example"}, "tiger\r\nX: lion", "", "", "a line end"},
		{"short", settings.HTTPCredential{Host: "a.example"}, "tiger", "", "", "less than 8"},
		{"missing", settings.HTTPCredential{Host: "a.example"}, "", "", "", "K is not set"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.c.Name, tc.c.Header, tc.c.Value = "n", "Authorization", "{env.K}"
			all, err := fetch.ReadCredentials([]settings.HTTPCredential{tc.c}, func(string) (string, bool) { return tc.value, tc.value != "" })
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) || !strings.HasPrefix(err.Error(), "http_credential n: value: ") || strings.Contains(err.Error(), "tiger") {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil || string(all[0].Value) != tc.want || all[0].Origin != tc.origin {
				t.Errorf("got %v, %v", all, err)
			}
		})
	}
}
