package api_test

import (
	"bufio"
	"testing"
	"time"
)

// A stream on which nothing happens says every few seconds that it is there, with one line: two would be an
// event to older clients.
func TestQuietStreamsBeat(t *testing.T) {
	s := newServer(t, parrot{})
	thread := s.thread("ada")
	s.do("ada", "POST", "/threads/"+thread+"/runs/wait", graph("hello"))
	for _, tc := range []struct {
		method, path string
		body         any
	}{
		{"GET", "/threads/" + thread + "/stream", nil},
		{"POST", "/threads/" + thread + "/stream/events", map[string]any{"channels": []string{"lifecycle"}, "since": 1_000_000}},
	} {
		t.Run(tc.path[len("/threads/")+len(thread):], func(t *testing.T) {
			t.Parallel()
			begun := time.Now()
			resp := s.open("ada", tc.method, tc.path, tc.body)
			defer resp.Body.Close()
			lines := bufio.NewScanner(resp.Body)
			for range 2 {
				if !lines.Scan() || lines.Text() != ": hb" {
					t.Fatalf("got %d, %q, %v", resp.StatusCode, lines.Text(), lines.Err())
				}
			}
			if took := time.Since(begun); took < 5*time.Second {
				t.Errorf("two beats came within %s", took)
			}
		})
	}
}
