package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/agents/api"
	"github.com/svc-gateway/svc/internal/budget"
	"github.com/svc-gateway/svc/internal/bus"
)

// A user has so many streams, and other users have as many. What is not held open needs no place among them.
func TestStreamsOfAUser(t *testing.T) {
	s := newServerWith(t, obedient{}, bus.NewMemory(), api.Options{BodyBytes: 64 << 10, Memory: budget.New(64 << 20), Version: "test", Streams: 2})
	thread := s.thread("ada")
	at := "/threads/" + thread
	first := s.centric("ada", thread, map[string]any{"channels": []string{"lifecycle"}})
	second := s.open("ada", "GET", at+"/stream", nil)
	defer second.Body.Close()
	for _, tt := range []struct {
		method, path string
		body         any
	}{
		{"GET", at + "/stream", nil},
		{"GET", at + "/stream/events", nil},
		{"POST", at + "/stream/events", map[string]any{"channels": []string{"values"}}},
		{"POST", at + "/runs/stream", graph("hello")},
		{"POST", at + "/runs/stream", ask("hello")},
		{"POST", at + "/runs/wait", graph("hello")},
		{"POST", "/runs/wait", graph("hello")},
		{"GET", at + "/runs/" + thread + "/join", nil},
		{"GET", at + "/runs/" + thread + "/stream", nil},
	} {
		status, header, body := s.do("ada", tt.method, tt.path, tt.body)
		if status != http.StatusTooManyRequests || header.Get("Retry-After") != "5" || !strings.Contains(body, "limits.streams_per_user") || !strings.Contains(body, "too_many_streams") {
			t.Errorf("%s %s: got %d %s", tt.method, tt.path, status, body)
		}
	}
	if status, _, body := s.do("ada", "GET", at+"/runs", nil); status != http.StatusOK || body != "[]" {
		t.Errorf("runs were started: %d %s", status, body)
	}
	if status, _, body := s.do("bob", "POST", "/runs/wait", graph("hello")); status != http.StatusOK {
		t.Errorf("another user: got %d %s", status, body)
	}
	first.body.Close()
	for {
		if status, _, _ := s.do("ada", "POST", at+"/runs/wait", graph("hello")); status == http.StatusOK {
			break // the service has learned that the client has gone
		} else if status != http.StatusTooManyRequests {
			t.Fatalf("after a stream was closed: got %d", status)
		}
	}
}
