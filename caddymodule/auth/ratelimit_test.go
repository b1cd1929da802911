package auth_test

import (
	"bufio"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/caddymodule/auth/caddytest"
	"github.com/svc-gateway/svc/policy"
)

func TestRateLimit(t *testing.T) {
	srv := caddytest.Start(t, caddytest.Config{
		Site: "svc_auth\nheader RateLimit-Remaining 12345\nrespond ok",
		Svc:  "limits {\nrequests_per_minute 1\nrequests_burst 3\n}",
	})
	alice := srv.AddUser("alice", policy.User, time.Time{})
	get := func(token string) (status int, fields []string) {
		resp, _ := srv.Send(srv.Request(http.MethodGet, "/", "", "Authorization", "Bearer "+token))
		for _, name := range []string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Retry-After"} {
			fields = append(fields, strings.Join(resp.Header.Values(name), ","))
		}
		return resp.StatusCode, fields
	}
	near := func(what, got string, want int) {
		t.Helper()
		if n, err := strconv.Atoi(got); err != nil || n > want || n < want-5 {
			t.Errorf("%s: got %q, want about %d", what, got, want)
		}
	}
	for i := range 5 {
		status, fields := get(srv.Token)
		if i < 3 && (status != http.StatusOK || fields[3] != "") || i >= 3 && status != http.StatusTooManyRequests {
			t.Errorf("request %d: got %d %q", i, status, fields)
		}
		if d := cmp.Diff([]string{"3", strconv.Itoa(max(0, 2-i))}, fields[:2]); d != "" {
			t.Errorf("request %d: limit and remaining (-want +got):\n%s", i, d)
		}
		near("reset", fields[2], 60*min(i+1, 3))
		if i >= 3 {
			near("retry after", fields[3], 60)
		}
	}
	if status, fields := get(alice); status != http.StatusOK || fields[1] != "2" {
		t.Errorf("another user: got %d %q", status, fields)
	}
	if status, fields := get("svc_none"); status != http.StatusUnauthorized || fields[0] != "" {
		t.Errorf("nobody: got %d %q", status, fields)
	}
	if resp, _ := srv.Send(srv.Request(http.MethodGet, "/health", "")); resp.StatusCode != http.StatusOK {
		t.Errorf("health: got %s", resp.Status)
	}
	want := []string{`429 admin ["rate_limited"]`}
	var got []string
	srv.Eventually("it is on record", func() bool {
		got = srv.Audit("select distinct code, user, reasons from audit_events where type = 'request' and code = 429")
		return len(got) > 0
	})
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("records (-want +got):\n%s", d)
	}
}

// A request that was let through is a record of its own, also where the answer behind the gateway is 429.
func TestRateLimitOfABackend(t *testing.T) {
	srv := caddytest.Start(t, caddytest.Config{Site: "svc_auth\nrespond slow 429"})
	const n = 30
	for range n {
		if resp, _ := srv.Do(http.MethodGet, "/", ""); resp.StatusCode != http.StatusTooManyRequests {
			t.Fatalf("got %s", resp.Status)
		}
	}
	srv.Eventually("every request is on record", func() bool {
		got := srv.Audit("select count(*), user, count(reasons) from audit_events where type = 'request' and code = 429")
		return cmp.Equal([]string{strconv.Itoa(n) + " admin 0"}, got)
	})
}

func TestNoRateLimit(t *testing.T) {
	srv := caddytest.Start(t, caddytest.Config{
		Site: "svc_auth\nrespond ok",
		Svc:  "limits {\nrequests_per_minute 0\nrequests_burst 1\n}",
	})
	for range 5 {
		resp, _ := srv.Do(http.MethodGet, "/", "")
		if resp.StatusCode != http.StatusOK || resp.Header.Get("RateLimit-Limit") != "" {
			t.Errorf("got %s, limit %q", resp.Status, resp.Header.Get("RateLimit-Limit"))
		}
	}
}

// TestMetricsAndAccessLog holds what Caddy's own accounting says of who sent what, and that no
// credential gets in there.
func TestMetricsAndAccessLog(t *testing.T) {
	log := filepath.Join(t.TempDir(), "caddy.log")
	srv := caddytest.Start(t, caddytest.Config{
		Site:   "log\nsvc_auth /admins/* {\nrequire admin\n}\nsvc_auth\nhandle /metrics {\nmetrics\n}\nrespond ok",
		Svc:    "limits {\nrequests_per_minute 60\nrequests_burst 3\n}",
		Global: "metrics",
		Log:    log,
	})
	alice := srv.AddUser("alice", policy.User, time.Time{})
	for _, path := range []string{"/one", "/admins/two", "/three", "/four"} {
		srv.Send(srv.Request(http.MethodGet, path, "", "Authorization", "Bearer "+alice))
	}
	srv.Do(http.MethodGet, "/five", "")
	srv.Send(srv.Request(http.MethodGet, "/six", ""))
	srv.Send(srv.Request(http.MethodGet, "/seven", "", "Authorization", "Bearer "+alice[:50]+"000"))
	srv.Send(srv.Request(http.MethodGet, "/eight", "", "Authorization", "Basic YTpi"))

	resp, body := srv.Do(http.MethodGet, "/metrics", "")
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("metrics: got %s %s", resp.Status, body)
	}
	want := []string{
		`svc_auth_total{outcome="malformed",provider="token",server="srv0",site="127.0.0.1"} 1`,
		`svc_auth_total{outcome="missing",provider="nobody",server="srv0",site="127.0.0.1"} 1`,
		`svc_auth_total{outcome="rate_limited",provider="token",server="srv0",site="127.0.0.1"} 1`,
		`svc_auth_total{outcome="role_insufficient",provider="token",server="srv0",site="127.0.0.1"} 1`,
		`svc_auth_total{outcome="success",provider="token",server="srv0",site="127.0.0.1"} 4`,
		`svc_auth_total{outcome="unrecognised",provider="nobody",server="srv0",site="127.0.0.1"} 1`,
	}
	if d := cmp.Diff(want, regexp.MustCompile(`(?m)^svc_auth_total.*$`).FindAllString(body, -1)); d != "" {
		t.Errorf("metrics (-want +got):\n%s", d)
	}

	want = []string{
		"/one 200 alice user token", "/admins/two 403 alice user token", "/three 200 alice user token",
		"/four 429 alice user token", "/five 200 admin admin token",
		"/six 401   ", "/seven 401   ", "/eight 401   ",
	}
	var got []string
	srv.Eventually("the log is written", func() bool {
		got = accessLog(t, log)
		return len(got) >= len(want)
	})
	if d := cmp.Diff(want, got[:len(want)]); d != "" {
		t.Errorf("access log (-want +got):\n%s", d)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{alice, srv.Token, alice[:50]} {
		if strings.Contains(string(text), secret) || strings.Contains(body, secret) {
			t.Errorf("a token is in the log or in the metrics")
		}
	}
}

// accessLog returns path, status, user, role and provider of the requests in a log of Caddy.
func accessLog(t *testing.T, file string) (lines []string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	field := func(line, pattern string) string {
		m := regexp.MustCompile(pattern).FindStringSubmatch(line)
		if m == nil {
			return ""
		}
		return m[1]
	}
	for s := bufio.NewScanner(f); s.Scan(); {
		if !strings.Contains(s.Text(), `"http.log.access`) {
			continue
		}
		lines = append(lines, strings.Join([]string{
			field(s.Text(), `"uri":"([^"]*)"`), field(s.Text(), `"status":(\d+)`),
			field(s.Text(), `"user_id":"([^"]*)"`), field(s.Text(), `"user_role":"([^"]*)"`),
			field(s.Text(), `"auth_provider":"([^"]*)"`),
		}, " "))
	}
	return lines
}

// TestAccessLogWithoutAPIKey holds that the log of docs/auth.md has no token in it.
func TestAccessLogWithoutAPIKey(t *testing.T) {
	page, err := os.ReadFile("../../docs/auth.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(page), "```\nlog {\n")
	options, _, ok2 := strings.Cut(rest, "```")
	if !ok || !ok2 {
		t.Fatal("docs/auth.md shows no log")
	}
	log := filepath.Join(t.TempDir(), "caddy.log")
	srv := caddytest.Start(t, caddytest.Config{Site: "log {\noutput file " + log + "\n" + options + "\nsvc_auth\nrespond ok"})
	if resp, _ := srv.Send(srv.Request(http.MethodGet, "/one", "", "X-Api-Key", srv.Token)); resp.StatusCode != http.StatusOK {
		t.Fatalf("got %s", resp.Status)
	}
	var text []byte
	srv.Eventually("the log is written", func() bool {
		text, err = os.ReadFile(log)
		return err == nil && strings.Contains(string(text), `"/one"`)
	})
	if strings.Contains(string(text), srv.Token) {
		t.Errorf("a token is in the log: %s", text)
	}
}
