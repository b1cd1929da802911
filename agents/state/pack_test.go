package state

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/internal/store"
)

// tale is what a run of two tool calls and an answer of a page tells.
func tale() []eventlog.Event {
	id := "01a20291-f417-7d9e-83a7-0eb5adab5fb1"
	events := []eventlog.Event{
		{Type: eventlog.ToolUse, Agent: "core", Call: "call_01a20291f42a7e2f9981cb567d8b968b", Name: "run_command", Input: []byte(`{"command":"df -h"}`), Status: "started"},
		{Type: eventlog.Result, Call: "call_01a20291f42a7e2f9981cb567d8b968b", Name: "run_command", Content: strings.Repeat("/dev/vda1  252G   38G  54G  42% /srv\n", 6), Status: "success"},
	}
	var all strings.Builder
	for i := range 40 {
		text := fmt.Sprintf("word %d of %d, ", i*7919%1000, i*i)
		all.WriteString(text)
		events = append(events, eventlog.Event{Type: eventlog.Chunk, Agent: "core", Message: id, Content: text})
	}
	events = append(events, eventlog.Event{Type: eventlog.Message, Agent: "core", Message: id, Content: all.String(), Streamed: true}, eventlog.Event{Type: eventlog.Done, Status: "success"})
	for i := range events {
		events[i].Seq = i
	}
	return events
}

func newTestPacker(tb testing.TB) *packer {
	tb.Helper()
	p, err := newPacker()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := p.close(); err != nil {
			tb.Error(err)
		}
	})
	return p
}

func TestPack(t *testing.T) {
	p := newTestPacker(t)
	for name, text := range map[string]string{
		"empty": "", "short": "is the moon full", "at the bound": strings.Repeat("x", packFrom), "long": strings.Repeat("0123456789é\n", 100_000),
	} {
		in := model.Message{Role: "user", Content: text}
		column, err := p.pack(in)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, plain := column.(string); plain != (len(text) < packFrom/2) {
			t.Errorf("%s: got a %T", name, column)
		}
		var out model.Message
		if err := p.unpack(column, &out); err != nil || !cmp.Equal(in, out) {
			t.Errorf("%s: %v, %s", name, err, cmp.Diff(in, out))
		}
	}
	var m model.Message
	for name, column := range map[string]any{"garbage": []byte("garbage"), "nothing": nil, "half": half(t, p)} {
		if err := p.unpack(column, &m); err == nil {
			t.Errorf("%s: there is no error", name)
		}
	}
}

func half(t *testing.T, p *packer) []byte {
	t.Helper()
	column, err := p.pack(tale())
	if err != nil {
		t.Fatal(err)
	}
	return column.([]byte)[:100]
}

// The events of a run with tool calls take a kilobyte or so, and less than 4 KB in any case.
func TestEventsAreSmall(t *testing.T) {
	column, err := newTestPacker(t).pack(tale())
	if err != nil {
		t.Fatal(err)
	}
	if got := len(column.([]byte)); got > 1500 {
		t.Errorf("got %d bytes, want at most 1500", got)
	}
}

// The dictionary is part of the format: rows that were written with it must stay readable.
func TestWordsNeverChange(t *testing.T) {
	p := newTestPacker(t)
	old, err := os.ReadFile("testdata/events1.zst")
	if err != nil {
		t.Fatal(err)
	}
	var got []eventlog.Event
	if err := p.unpack(old, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tale(), got); diff != "" {
		t.Error(diff)
	}
}

// Rows of before compression are read beside those of now.
func TestOldRowsStayReadable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	before := fstest.MapFS{}
	for _, name := range []string{"00001_state.sql", "00002_runs_that_wait.sql"} {
		text, err := os.ReadFile("migrations/" + name)
		if err != nil {
			t.Fatal(err)
		}
		before[name] = &fstest.MapFile{Data: text}
	}
	old, err := store.Open(t.Context(), path, before, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("long ", 1000)
	err = old.Write(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(`INSERT INTO events (run, first, last, data) VALUES ('r', 0, 0, '[{"seq":0,"type":"message","content":"` + long + `"}]')`)
		if err == nil {
			_, err = tx.Exec(`INSERT INTO messages (thread, seq, data) VALUES ('t', 0, '{"role":"user","content":"` + long + `"}')`)
		}
		if err == nil {
			_, err = tx.Exec(`INSERT INTO runs (id, thread, status, version, data) VALUES ('r', 't', 'success', 3, '{"run":"r","thread":"t","assistant":"` + long + `"}')`)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	added := tale()
	for i := range added {
		added[i].Seq++
	}
	if err := s.AppendEvents(t.Context(), "r", added); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Events(t.Context(), "r", 0, 1000); err != nil || len(got) != 1+len(added) || got[0].Content != long || got[len(added)].Status != "success" {
		t.Errorf("got %d events, %v", len(got), err)
	}
	if got, err := s.Messages(t.Context(), "t", -1); err != nil || len(got) != 1 || got[0].Content != long {
		t.Errorf("got %d messages, %v", len(got), err)
	}
	if got, err := s.Run(t.Context(), "r"); err != nil || got.Assistant != long || got.Version != 3 {
		t.Errorf("got %+v, %v", got, err)
	}
}

// The row of a run at work is replaced soon and not packed.
func TestRunsAreNotPackedAtWork(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for status, want := range map[agents.Status]string{
		agents.Pending: "string", agents.Running: "string", agents.Interrupted: "[]uint8", agents.Success: "[]uint8",
	} {
		got, err := s.encode(&agents.Run{Status: status, Assistant: strings.Repeat("long ", 1000)})
		if err != nil || fmt.Sprintf("%T", got) != want {
			t.Errorf("%s: got a %T, %v; want a %s", status, got, err, want)
		}
	}
}

func FuzzPack(f *testing.F) {
	f.Add("", 0)
	f.Add("word ", 1000)
	f.Add("\x00é\"\\", 300)
	p := newTestPacker(f)
	f.Fuzz(func(t *testing.T, text string, n int) {
		in := strings.ToValidUTF8(strings.Repeat(text, max(0, min(n, 1000))), "")
		column, err := p.pack(in)
		if err != nil {
			t.Fatal(err)
		}
		var out string
		if err := p.unpack(column, &out); err != nil || out != in {
			t.Errorf("%v: %q became %q", err, in, out)
		}
	})
}

func BenchmarkPack(b *testing.B) {
	p, events := newTestPacker(b), tale()
	column, err := p.pack(events)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("pack", func(b *testing.B) {
		for b.Loop() {
			if _, err := p.pack(events); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("unpack", func(b *testing.B) {
		for b.Loop() {
			var out []eventlog.Event
			if err := p.unpack(column, &out); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("append", func(b *testing.B) {
		s, err := Open(context.Background(), filepath.Join(b.TempDir(), "state.db"))
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		i := 0
		for b.Loop() {
			i++
			if err := s.AppendEvents(b.Context(), fmt.Sprint(i), events); err != nil {
				b.Fatal(err)
			}
		}
	})
}
