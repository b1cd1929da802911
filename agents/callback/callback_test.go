package callback_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/callback"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/post"
	"github.com/svc-gateway/svc/internal/reach"
)

const secret = "0123456789abcdef0123456789abcdef"

func hosts(t *testing.T, items ...string) reach.Hosts {
	t.Helper()
	h, err := reach.ParseHosts(items)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// shown is what servers of the tests are sent.
func shown(end agents.RunEnd) any {
	return map[string]any{"run_id": end.Run.ID, "status": end.Run.Status, "messages": len(end.Messages), "values": end.Values}
}

func TestAllowed(t *testing.T) {
	c := callback.New(callback.Config{Hosts: hosts(t, "hooks.example.org"), Body: shown, Secret: secret, Log: zap.NewNop()})
	defer c.Close()
	none := callback.New(callback.Config{Body: shown, Secret: secret, Log: zap.NewNop()})
	defer none.Close()
	for _, tc := range []struct {
		url  string
		want bool
	}{
		{"https://hooks.example.org/done", true},
		{"http://hooks.example.org/done", false},
		{"https://other.example.org/done", false},
		{"https://hooks.example.org.evil.test/", false},
		{"https://user:pw@hooks.example.org/", false},
		{"https://169.254.169.254/", false},
		{"file:///etc/passwd", false},
		{"", false},
	} {
		if err := c.Allowed(tc.url); (err == nil) != tc.want {
			t.Errorf("%s: got %v, want allowed=%t", tc.url, err, tc.want)
		}
		if err := none.Allowed(tc.url); err == nil {
			t.Errorf("%s is allowed where no server is", tc.url)
		}
	}
}

func TestRunEnded(t *testing.T) {
	got := make(chan string, 1)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if want := "v1," + post.Sign(secret, r.Header.Get("webhook-id"), r.Header.Get("webhook-timestamp"), body); r.Header.Get("webhook-signature") != want {
			t.Errorf("signature: got %s, want %s", r.Header.Get("webhook-signature"), want)
		}
		got <- string(body)
	}))
	defer s.Close()
	end := agents.RunEnd{
		Run:      agents.RunInfo{ID: "r", Thread: "t", Status: agents.Success},
		Messages: []model.Message{{Role: "user", Content: "hello"}}, Values: map[string]any{"topic": "tea"},
	}
	core, logs := observer.New(zapcore.WarnLevel)
	list := hosts(t, s.URL)
	closed := callback.New(callback.Config{Hosts: list, Body: shown, Secret: secret, Log: zap.New(core), Pause: time.Millisecond})
	closed.RunEnded(s.URL, end) // the host is listed, and its address is not
	for deadline := time.Now().Add(20 * time.Second); logs.Len() == 0 && time.Now().Before(deadline); {
		<-time.After(time.Millisecond)
	}
	closed.Close()
	if len(got) > 0 || logs.FilterMessageSnippet("did not take").Len() != 1 {
		t.Fatalf("a server of this host is told: %v", logs.All())
	}
	c := callback.New(callback.Config{
		Hosts: list, Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Body: shown, Secret: secret, Log: zap.NewNop(),
	})
	defer c.Close()
	c.RunEnded(s.URL, end)
	body := <-got
	if want := `{"messages":1,"run_id":"r","status":"success","values":{"topic":"tea"}}`; body != want {
		t.Errorf("got %s, want %s", body, want)
	}
}
