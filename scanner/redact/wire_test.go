package redact

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/scanner/redact/wiretest"
)

// checkWire holds that what comes out of a stream is the redacted text, in as many events, that no event
// waits for long without need, and that the secret is nowhere.
func checkWire(t *testing.T, s *wiretest.Stream, choose func(n int) int) {
	t.Helper()
	r := NewEventStream()
	var tr Stream = r
	if s.ContentType != "text/event-stream" {
		tr = NewLineStream()
	}
	want := Text(s.Text)
	if s.JSON {
		want = string(JSON([]byte(s.Text)))
	}
	var out []byte
	in := 0
	for i, e := range s.Events {
		in += len(e)
		if n := choose(3); n == 0 && len(e) > 1 { // in two pieces
			cut := 1 + choose(len(e)-1)
			out = tr.Append(tr.Append(out, []byte(e[:cut])), []byte(e[cut:]))
		} else {
			out = tr.Append(out, []byte(e))
		}
		// What may still begin a secret is short; within each other escapes make it long.
		if waiting := in - len(out); s.Hidden == "" && want == s.Text && waiting > 40*(len(e)+1) && !s.JSON {
			t.Fatalf("%s: after event %d of %q %d bytes wait", s.Name, i+1, s.Events, waiting)
		}
	}
	out = tr.Close(out)
	text, n, err := s.Read(string(out))
	if err != nil {
		t.Fatalf("%s: %v\n%s", s.Name, err, strings.Join(s.Events, ""))
	}
	got, err := s.Inner(text)
	if err != nil {
		t.Fatalf("%s: %v\n%s", s.Name, err, strings.Join(s.Events, ""))
	}
	all, err := s.Inner(s.Text)
	if err != nil {
		t.Fatal(err)
	}
	if want, err = s.Inner(want); err != nil {
		t.Fatal(err)
	}
	switch {
	case n != len(s.Events):
		t.Fatalf("%s: got %d events, want %d", s.Name, n, len(s.Events))
	case s.Hidden != "" && (strings.Contains(got, s.Hidden) || strings.Contains(string(out), s.Hidden)):
		t.Fatalf("%s: the secret came out of\n%s\n%s", s.Name, strings.Join(s.Events, ""), out)
	case got != want:
		t.Fatalf("%s:\n got %q\nwant %q\nof %s", s.Name, got, want, strings.Join(s.Events, ""))
	case s.Hidden == "" && got != all:
		t.Fatalf("%s: got %q, want %q", s.Name, got, all)
	}
}

// TestWire checks some thousand streams, the same ones each time.
func TestWire(t *testing.T) {
	n := 1500
	if testing.Short() {
		n = 500
	}
	for i := range n {
		choose := rand.New(rand.NewPCG(uint64(i), 13)).IntN
		checkWire(t, wiretest.New(choose), choose)
	}
}

// FuzzWire checks other streams.
func FuzzWire(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) {
		choose := rand.New(rand.NewPCG(a, b)).IntN
		checkWire(t, wiretest.New(choose), choose)
	})
}
