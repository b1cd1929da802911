package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/svc-gateway/svc/agents/approval"
	"github.com/svc-gateway/svc/agents/post"
	"github.com/svc-gateway/svc/internal/reach"
)

const secret = "0123456789abcdef0123456789abcdef"

// receiver answers with the statuses in turn, the last one from then on, and notes what it gets.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	statuses []int
	ids      []string
	bodies   []string
	got      chan struct{}
}

func newReceiver(t *testing.T, statuses ...int) *receiver {
	t.Helper()
	r := &receiver{statuses: statuses, got: make(chan struct{}, 100)}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		id, stamp := req.Header.Get("webhook-id"), req.Header.Get("webhook-timestamp")
		if got, want := req.Header.Get("webhook-signature"), "v1,"+post.Sign(secret, id, stamp, body); got != want {
			t.Errorf("signature: got %s, want %s", got, want)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ids, r.bodies = append(r.ids, id), append(r.bodies, string(body))
		status := r.statuses[0]
		if len(r.statuses) > 1 {
			r.statuses = r.statuses[1:]
		}
		if status == http.StatusFound {
			w.Header().Set("Location", "http://127.0.0.1:1/elsewhere")
		}
		w.WriteHeader(status)
		r.got <- struct{}{}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) wait(t *testing.T, n int) {
	t.Helper()
	for range n {
		select {
		case <-r.got:
		case <-time.After(20 * time.Second):
			t.Fatal("no message")
		}
	}
}

func TestMessages(t *testing.T) {
	for _, tc := range []struct {
		name     string
		statuses []int
		attempts int
		warning  string
	}{
		{"taken", []int{204}, 1, ""},
		{"taken in the end", []int{503, 429, 200}, 3, ""},
		{"never taken", []int{500}, post.Attempts, "did not take a message"},
		{"refused for good", []int{403}, 1, "did not take a message"},
		{"a redirect is not followed", []int{302}, 1, "did not take a message"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newReceiver(t, tc.statuses...)
			core, logs := observer.New(zapcore.WarnLevel)
			w := New(Config{URL: r.URL + "/key-in-the-path", Secret: secret, Private: true, Log: zap.New(core), Pause: time.Millisecond})
			w.Requested(context.Background(), approval.View{ID: "call_1", Tool: "run_command"})
			r.wait(t, tc.attempts)
			for deadline := time.Now().Add(20 * time.Second); tc.warning != "" && logs.Len() == 0 && time.Now().Before(deadline); {
				<-time.After(time.Millisecond)
			}
			w.Close()
			if len(r.ids) != tc.attempts {
				t.Errorf("%d attempts, want %d", len(r.ids), tc.attempts)
			}
			for _, id := range r.ids {
				if id != r.ids[0] {
					t.Errorf("the id changed from %s to %s", r.ids[0], id)
				}
			}
			var m struct {
				Type string
				Data approval.View
			}
			if err := json.Unmarshal([]byte(r.bodies[0]), &m); err != nil || m.Type != "approval.requested" || m.Data.ID != "call_1" {
				t.Errorf("got %s, %v", r.bodies[0], err)
			}
			if got := logs.Len() > 0 && strings.Contains(logs.All()[0].Message, tc.warning); got != (tc.warning != "") {
				t.Errorf("logged %v, want %q", logs.All(), tc.warning)
			}
			for _, e := range logs.All() {
				if err, _ := e.ContextMap()["error"].(string); strings.Contains(err, "key-in-the-path") {
					t.Errorf("the address is logged: %s", err)
				}
			}
		})
	}
}

func TestDecidedFollowsRequested(t *testing.T) {
	r := newReceiver(t, 200)
	w := New(Config{URL: r.URL, Secret: secret, Private: true, Log: zap.NewNop()})
	defer w.Close()
	w.Requested(context.Background(), approval.View{ID: "1"})
	w.Decided(context.Background(), approval.View{ID: "1", Outcome: "rejected"})
	r.wait(t, 2)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !strings.Contains(r.bodies[0], "approval.requested") || !strings.Contains(r.bodies[1], `"outcome":"rejected"`) {
		t.Errorf("got %q", r.bodies)
	}
}

// The service does not wait for a server that does not answer, nor for the end of what is queued.
func TestAFullQueueIsNoObstacle(t *testing.T) {
	release := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer s.Close()
	defer close(release)
	core, logs := observer.New(zapcore.WarnLevel)
	w := New(Config{URL: s.URL, Secret: secret, Private: true, Log: zap.New(core)})
	for range post.QueueLength + 10 {
		w.Requested(context.Background(), approval.View{})
	}
	w.Close()
	if logs.FilterMessageSnippet("dropped").Len() == 0 {
		t.Error("nothing says that messages were dropped")
	}
}

func TestAddresses(t *testing.T) {
	for _, tc := range []struct {
		address         string
		public, private bool // allowed without and with Private
	}{
		{"93.184.216.34:443", true, true},
		{"[2606:2800:220:1::1]:443", true, true},
		{"127.0.0.1:80", false, true},
		{"[::1]:80", false, true},
		{"[::ffff:127.0.0.1]:80", false, true},
		{"10.1.2.3:80", false, true},
		{"192.168.0.1:80", false, true},
		{"172.16.0.1:80", false, true},
		{"[fd00::1]:80", false, true},
		{"100.64.0.1:80", false, true},
		{"169.254.169.254:80", false, false},
		{"[::ffff:169.254.169.254]:80", false, false},
		{"[fe80::1%25eth0]:80", false, false},
		{"[fd00:ec2::254]:80", false, false},
		{"[fd20:ce::254]:80", false, false},
		{"192.0.0.192:80", false, false},
		{"100.100.100.200:80", false, false},
		{"[64:ff9b::a9fe:a9fe]:80", false, false},
		{"0.0.0.0:80", false, false},
		{"[::]:80", false, false},
		{"224.0.0.1:80", false, false},
		{"[64:ff9b::7f00:1]:80", false, true},
		{"240.0.0.1:80", false, true},
		{"nonsense", false, false},
	} {
		for private, want := range map[bool]bool{false: tc.public, true: tc.private} {
			err := reach.Control(func(a netip.Addr) error { return check(a, private) })(t.Context(), "tcp", tc.address, nil)
			if (err == nil) != want || err != nil && !errors.Is(err, ErrAddress) {
				t.Errorf("%s, private=%t: got %v, want allowed=%t", tc.address, private, err, want)
			}
		}
	}
}

func TestTheAddressIsLookedAtWhenConnecting(t *testing.T) {
	r := newReceiver(t, 200)
	core, logs := observer.New(zapcore.WarnLevel)
	w := New(Config{URL: strings.Replace(r.URL, "127.0.0.1", "localhost", 1), Secret: secret, Log: zap.New(core)})
	w.Requested(context.Background(), approval.View{})
	for deadline := time.Now().Add(20 * time.Second); logs.Len() == 0 && time.Now().Before(deadline); {
		<-time.After(time.Millisecond)
	}
	w.Close()
	if len(r.ids) > 0 || logs.FilterMessageSnippet("did not take").Len() != 1 {
		t.Errorf("got %d messages, logged %v", len(r.ids), logs.All())
	}
}
