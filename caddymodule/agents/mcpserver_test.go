package agents_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/svc-gateway/svc/caddymodule/auth/caddytest"
	"github.com/svc-gateway/svc/policy"
)

// bearer sends a token with every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return caddytest.Client.Transport.RoundTrip(r)
}

// asUser is a session of the library's client, whose user answers with a decision.
func asUser(t *testing.T, s *caddytest.Server, token, version string, asked func(string) *sdk.ElicitResult) *sdk.ClientSession {
	t.Helper()
	var o sdk.ClientOptions
	if asked != nil {
		o.ElicitationHandler = func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return asked(r.Params.Message), nil
		}
	}
	cs, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &o).Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: s.URL + "/mcp", HTTPClient: &http.Client{Transport: bearer(token)}, DisableStandaloneSSE: true,
	}, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cs.Close() })
	return cs
}

func text(t *testing.T, res *sdk.CallToolResult, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, c := range res.Content {
		if c, ok := c.(*sdk.TextContent); ok {
			all = append(all, c.Text)
		}
	}
	return strings.Join(all, "\n")
}

func command(line string) *sdk.CallToolParams {
	return &sdk.CallToolParams{Name: "run_command", Arguments: map[string]any{"command": line}}
}

// TestMCPServer has the library's client list and call tools, in the stateless revision and in one before.
func TestMCPServer(t *testing.T) {
	s := caddytest.Start(t, caddytest.Config{Site: site})
	admin, reader := s.AddUser("ada", policy.Admin, time.Time{}), s.AddUser("rob", policy.Readonly, time.Time{})
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		t.Run(version, func(t *testing.T) {
			cs := asUser(t, s, admin, version, nil)
			if got := cs.InitializeResult().ProtocolVersion; got != version {
				t.Errorf("got the revision %s", got)
			}
			names := func(cs *sdk.ClientSession) (all []string) {
				list, err := cs.ListTools(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				if version == "2026-07-28" && list.CacheScope != "private" {
					t.Errorf("cacheScope: got %q, want private", list.CacheScope)
				}
				for _, tool := range list.Tools {
					all = append(all, tool.Name)
				}
				return all
			}
			want := []string{"edit_file", "http_get", "http_request", "query_database", "read_file", "run_code", "run_command", "write_file", "write_todos"}
			if diff := cmp.Diff(want, names(cs)); diff != "" {
				t.Error(diff)
			}
			want = []string{"http_get", "http_request", "query_database", "read_file", "write_todos"}
			if diff := cmp.Diff(want, names(asUser(t, s, reader, version, nil))); diff != "" {
				t.Errorf("what may only read: %s", diff)
			}
			res, err := cs.CallTool(t.Context(), command("uname -s"))
			if got := text(t, res, err); got != "Linux\n" || res.IsError {
				t.Errorf("got %q, error %t", got, res.IsError)
			}
			res, err = cs.CallTool(t.Context(), command("rm -rf build"))
			if got := text(t, res, err); !res.IsError || !strings.Contains(got, "waits for approval") || !strings.Contains(got, "call_") {
				t.Errorf("a client that cannot ask: got %q", got)
			}
			res, err = cs.CallTool(t.Context(), &sdk.CallToolParams{Name: "nothing"})
			if got := text(t, res, err); !res.IsError || !strings.Contains(got, "unknown_tool") {
				t.Errorf("a tool that is not there: got %q", got)
			}
			res, err = asUser(t, s, reader, version, nil).CallTool(t.Context(), &sdk.CallToolParams{Name: "write_file", Arguments: map[string]any{"path": "x", "content": "y"}})
			if got := text(t, res, err); !res.IsError || !strings.HasPrefix(got, "denied: ") {
				t.Errorf("a reader writes: got %q", got)
			}
		})
	}
}

// TestMCPApproval has a client ask its user about a call that waits.
func TestMCPApproval(t *testing.T) {
	s := caddytest.Start(t, caddytest.Config{Site: site})
	admin, user := s.AddUser("ada", policy.Admin, time.Time{}), s.AddUser("ursula", policy.User, time.Time{})
	accept := func(decision string) *sdk.ElicitResult {
		return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": decision}}
	}
	for _, tc := range []struct {
		name, token string
		answer      *sdk.ElicitResult
		want        string
	}{
		{"approved", admin, accept("approve"), "[no output]"},
		{"rejected", admin, accept("reject"), "rejected by ada. Approval was needed: "},
		{"declined", admin, &sdk.ElicitResult{Action: "decline"}, "rejected by ada. Approval was needed: "},
		{"cancelled", admin, &sdk.ElicitResult{Action: "cancel"}, "This call waits for approval until "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var asked []string
			cs := asUser(t, s, tc.token, "2026-07-28", func(message string) *sdk.ElicitResult {
				asked = append(asked, message)
				return tc.answer
			})
			res, err := cs.CallTool(t.Context(), command("rm -rf ./nothing-here"))
			if got := text(t, res, err); !strings.HasPrefix(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if len(asked) != 1 || !strings.Contains(asked[0], `run_command {"command":"rm -rf ./nothing-here"}`) {
				t.Errorf("asked %q", asked)
			}
		})
	}
	t.Run("who may not decide", func(t *testing.T) {
		n := 0
		cs := asUser(t, s, user, "2026-07-28", func(message string) *sdk.ElicitResult {
			if n++; !strings.Contains(message, "An administrator has to decide") {
				t.Errorf("asked %q", message)
			}
			if n == 2 { // an administrator does, elsewhere
				_, id, _ := strings.Cut(message, "approvals approve ")
				id, _, _ = strings.Cut(id, ".")
				r := s.Request("POST", "/approvals/"+id, `{"decision":"approve"}`, "Content-Type", "application/json")
				r.Header.Set("Authorization", "Bearer "+admin)
				if resp, body := s.Send(r); resp.StatusCode != http.StatusOK {
					t.Errorf("approving: %s %s", resp.Status, body)
				}
			}
			return accept("wait")
		})
		res, err := cs.CallTool(t.Context(), command("rm -rf ./nothing-here"))
		if got := text(t, res, err); !strings.HasPrefix(got, "[no output]") || n < 2 {
			t.Errorf("got %q after %d questions", got, n)
		}
	})
}

func TestMCPRefuses(t *testing.T) {
	s := caddytest.Start(t, caddytest.Config{Site: site})
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for _, tc := range []struct {
		name, body string
		header     []string
		status     int
		want       string
	}{
		{"good", list, nil, 200, `"tools"`},
		{"another origin", list, []string{"Origin", "https://evil.example"}, 403, "origin_forbidden"},
		{"a page of another site", list, []string{"Sec-Fetch-Site", "cross-site"}, 403, "origin_forbidden"},
		{"a header for another method", list, []string{"Mcp-Method", "ping"}, 400, "-32020"},
		{"names twice", `{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"ping"}`, nil, 400, "invalid_json"},
		{"several at once", "[" + list + "]", nil, 400, "invalid_json"},
		{"cut off", `{"jsonrpc":"2.0"`, nil, 400, "invalid_json"},
		{"too large", `{"a":"` + strings.Repeat("x", 5<<20) + `"}`, nil, 413, "body_too_large"},
		{"a state that is none", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_command","arguments":{"command":"id"},"requestState":"x"}}`, nil, 200, "requestState is not one"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			header := append([]string{"Content-Type", "application/json", "Accept", "application/json, text/event-stream"}, tc.header...)
			resp, body := s.Do("POST", "/mcp", tc.body, header...)
			if resp.StatusCode != tc.status || !strings.Contains(body, tc.want) {
				t.Errorf("got %s %.300s, want %d %s", resp.Status, body, tc.status, tc.want)
			}
		})
	}
}
