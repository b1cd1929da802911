package agents_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/agents/model/fakeopenai"
	_ "github.com/svc-gateway/svc/caddymodule/agents"
	_ "github.com/svc-gateway/svc/caddymodule/auth"
	_ "github.com/svc-gateway/svc/caddymodule/stream"

	"github.com/svc-gateway/svc/caddymodule/auth/caddytest"
)

func TestCaddyfile(t *testing.T) { caddytest.Golden(t) }

const site = "svc_auth\nsvc_stream\nsvc_agents"

func ask(text string) string {
	return fmt.Sprintf(`{"assistant_id":"quick","input":{"messages":[{"role":"user","content":%q}]}}`, text)
}

// TestReloadLeavesRunsAlone reloads while a run waits for its model: the run's reader stays,
// one who joins through the new configuration sees the same, and new runs have the new setup.
func TestReloadLeavesRunsAlone(t *testing.T) {
	hold := make(chan struct{})
	fake := fakeopenai.Start(fakeopenai.Sequence(
		fakeopenai.Turn{Text: []string{"before ", "and after"}, Hold: hold},
	))
	t.Cleanup(fake.Close)
	s := caddytest.Start(t, caddytest.Config{
		Site: site,
		Svc:  fmt.Sprintf("model {\nprovider openai\nbase_url %s\nname fake\n}", fake.BaseURL()),
	})
	_, thread := s.Do("POST", "/threads", "{}", "Content-Type", "application/json")
	path := "/threads/" + strings.Split(thread, `"`)[3] + "/runs/stream"
	first, err := caddytest.Client.Do(authorized(s, "POST", path, ask("hello")))
	if err != nil {
		t.Fatal(err)
	}
	defer first.Body.Close()
	s.LoadJSON(func(doc map[string]any) {
		doc["apps"].(map[string]any)["svc"] = map[string]any{"auth": map[string]any{"mode": []any{"token"}}}
	})
	joined, err := caddytest.Client.Do(authorized(s, "GET", path, ""))
	if err != nil {
		t.Fatal(err)
	}
	defer joined.Body.Close()
	close(hold)
	for name, body := range map[string]io.Reader{"the first reader": first.Body, "one who joined after the reload": joined.Body} {
		if got := answer(t, body); got != "before and after" {
			t.Errorf("%s: got %q", name, got)
		}
	}
	_, next := s.Do("POST", "/runs/stream", ask("tell me about yourself"), "Content-Type", "application/json")
	if !strings.Contains(answer(t, strings.NewReader(next)), "demo model") {
		t.Errorf("a run after the reload: got %s, want the demo model's answer", next)
	}
}

func authorized(s *caddytest.Server, method, path, body string) *http.Request {
	return s.Request(method, path, body, "Authorization", "Bearer "+s.Token, "Content-Type", "application/json")
}

// answer joins the text of a stream and expects its end.
func answer(t *testing.T, stream io.Reader) string {
	t.Helper()
	var text strings.Builder
	done := false
	for lines := bufio.NewScanner(stream); lines.Scan(); {
		line := lines.Text()
		if _, content, ok := strings.Cut(line, `"content":"`); ok {
			text.WriteString(strings.TrimSuffix(content, `"}`))
		}
		done = done || strings.Contains(line, `"type":"done"`)
	}
	if !done {
		t.Error("a stream without done")
	}
	return text.String()
}
