package agents_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/svc-gateway/svc/agents/api"
	"github.com/svc-gateway/svc/caddymodule/auth/caddytest"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity/web"
)

// endpoints is everything that a service with the runtime serves.
func endpoints() []policy.Endpoint { return append(api.Endpoints(), web.Endpoints("/auth")...) }

var parameter = regexp.MustCompile(`\{[a-z_]+\}`)

// TestEveryEndpointAndRole calls every endpoint as nobody and in every role: who may not is told
// so, and who may is not.
func TestEveryEndpointAndRole(t *testing.T) {
	s := caddytest.Start(t, caddytest.Config{Site: site})
	tokens := map[policy.Role]string{
		"": "", policy.Admin: s.AddUser("ada", policy.Admin, time.Time{}),
		policy.User:     s.AddUser("ursula", policy.User, time.Time{}),
		policy.Readonly: s.AddUser("rob", policy.Readonly, time.Time{}),
	}
	for _, e := range endpoints() {
		path := parameter.ReplaceAllString(e.Path, "00000000-0000-4000-8000-000000000000")
		for role, token := range tokens {
			r := s.Request(e.Method, path, "", "Content-Type", "application/json")
			if token != "" {
				r.Header.Set("Authorization", "Bearer "+token)
			}
			resp, body := s.Send(r)
			refused := resp.StatusCode == http.StatusForbidden || role == "" && resp.StatusCode == http.StatusUnauthorized
			if refused == e.Permits(role) || role != "" && resp.StatusCode == http.StatusUnauthorized {
				t.Errorf("%s %s as %q: got %s, permitted is %t: %s", e.Method, e.Path, role, resp.Status, e.Permits(role), body)
			}
		}
	}
}

// TestEndpointsAreDocumented holds the table in docs/auth.md to the one that is served.
func TestEndpointsAreDocumented(t *testing.T) {
	const begin, end = "<!-- endpoints: go test ./caddymodule/agents -run Documented -update -->\n", "<!-- /endpoints -->\n"
	file := filepath.Join("..", "..", "docs", "auth.md")
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(page), begin)
	_, after, found := strings.Cut(rest, end)
	if !found {
		t.Fatalf("%s has no place for the table between\n%s%s", file, begin, end)
	}
	want := before + begin + endpointTable() + end + after
	if *caddytest.Update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(page) != want {
		t.Errorf("the table of endpoints in %s is not what is served: run go test ./caddymodule/agents -run Documented -update", file)
	}
}

func endpointTable() string {
	var b strings.Builder
	b.WriteString("| endpoint | | action | admin | user | readonly |\n|---|---|---|---|---|---|\n")
	for _, e := range endpoints() {
		action := string(e.Action)
		switch {
		case e.Open:
			action = "open"
		case action == "":
			action = "any role"
		}
		fmt.Fprintf(&b, "| `%s %s` | %s | %s |", e.Method, e.Path, e.Summary, action)
		for _, role := range policy.Roles() {
			fmt.Fprintf(&b, " %s |", map[bool]string{true: "yes", false: "no"}[e.Permits(role)])
		}
		b.WriteString("\n")
	}
	return b.String()
}
