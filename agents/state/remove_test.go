package state

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/internal/store"
)

// A removal that a crash interrupted is finished by the next sweep, and nobody finds what is left.
func TestHalfRemovedThread(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	now := time.Now()
	for _, id := range []string{"half", "whole"} {
		if err := s.CreateThread(t.Context(), agents.Thread{ID: id, Owner: "ada", Created: now, Updated: now, Status: agents.ThreadIdle}); err != nil {
			t.Fatal(err)
		}
	}
	err = s.db.Write(t.Context(), func(tx *store.Tx) error {
		for i := range 2 * removeRows {
			if _, err := tx.Exec(insertMessage, "half", i, nil, "", 0, "", nil, "{}", 2); err != nil {
				return err
			}
		}
		if err := take(tx, "half", math.MaxInt64); err != nil {
			return err
		}
		_, err := removePart(tx, removeParts, removeThread, "half")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Thread(t.Context(), "half"); !errors.Is(err, agents.ErrThreadNotFound) {
		t.Errorf("got %v, want %v", err, agents.ErrThreadNotFound)
	}
	if list, total, err := s.Threads(t.Context(), agents.ThreadFilter{Limit: 10}); err != nil || total != 1 || list[0].ID != "whole" {
		t.Errorf("got %v, %d, %v, want the whole one", list, total, err)
	}
	ids, err := s.HalfRemoved(t.Context(), 10)
	if err != nil || len(ids) != 1 || ids[0] != "half" {
		t.Fatalf("got %v, %v, want the half one", ids, err)
	}
	if err := s.DeleteThread(t.Context(), "half", time.Time{}); err != nil {
		t.Fatal(err)
	}
	if messages, err := s.Messages(t.Context(), "half", -1); err != nil || len(messages) != 0 {
		t.Errorf("got %d messages, %v", len(messages), err)
	}
	if ids, err := s.HalfRemoved(t.Context(), 10); err != nil || len(ids) != 0 {
		t.Errorf("got %v, %v, want none", ids, err)
	}
}

// While a large thread is removed, others who write wait for a part of it at most.
func BenchmarkWriteBesideRemoval(b *testing.B) {
	s, err := Open(b.Context(), filepath.Join(b.TempDir(), "state.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	const rows = 100_000
	now := time.Now()
	if err := s.CreateThread(b.Context(), agents.Thread{ID: "large", Owner: "ada", Created: now, Updated: now, Status: agents.ThreadIdle}); err != nil {
		b.Fatal(err)
	}
	err = s.db.Write(b.Context(), func(tx *store.Tx) error {
		for i := range rows {
			if _, err := tx.Exec(insertMessage, "large", i, `{"role":"user","content":"`+strings.Repeat("x", 300)+`"}`); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	removed := make(chan error, 1)
	go func() { removed <- s.DeleteThread(context.Background(), "large", time.Time{}) }()
	longest := time.Duration(0)
	for i := 0; b.Loop(); i++ {
		begun := time.Now()
		if err := s.AppendEvents(b.Context(), fmt.Sprint(i), []eventlog.Event{{Type: eventlog.Done}}); err != nil {
			b.Fatal(err)
		}
		longest = max(longest, time.Since(begun))
	}
	if err := <-removed; err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(longest.Microseconds())/1000, "ms/longest")
}
