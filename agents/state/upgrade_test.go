package state_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/cron"
	"github.com/svc-gateway/svc/agents/items"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/state"
	"github.com/svc-gateway/svc/agents/tree"
	"github.com/svc-gateway/svc/internal/store"
)

// madeBefore makes a database as the first version did, with some rows, and returns its path.
func madeBefore(t *testing.T, write func(*store.Tx) error) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "state.db")
	first, err := os.ReadFile("migrations/00001_state.sql")
	if err != nil {
		t.Fatal(err)
	}
	old, err := store.Open(t.Context(), path, fstest.MapFS{"00001_state.sql": {Data: first}}, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(old.Write(t.Context(), write), old.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// A database that an earlier version made keeps its runs, and lists them by what it did not have
// columns for.
func TestUpgrade(t *testing.T) {
	path := madeBefore(t, func(tx *store.Tx) error {
		for id, data := range map[string]string{
			"1": `{"run":"1","thread":"t1","assistant":"core","principal":{"user":"ada","role":"user","source":"token"},"status":"success","version":3,"harness":"0.4.12","created":"2026-03-01T12:00:00.005Z","updated":"2026-03-01T12:00:01Z","frames":[{"agent":"core","messages":[]}]}`,
			"2": `{"run":"2","thread":"t2","assistant":"core","principal":{"user":"root","role":"readonly","source":"token","on_behalf_of":"bob"},"status":"running","version":3,"created":"2026-03-01T12:00:00Z","updated":"2026-03-01T12:00:00Z"}`,
			"3": `garbage`,
		} {
			status := map[string]string{"1": "success", "2": "running", "3": "running"}[id]
			if _, err := tx.Exec(`INSERT INTO runs (id, thread, status, version, data) VALUES (?, ?, ?, 3, ?)`, id, "t"+id, status, data); err != nil {
				return err
			}
		}
		return nil
	})
	if runs, err := state.Unfinished(t.Context(), path); err != nil || !cmp.Equal(runs, []string{"2", "3"}) {
		t.Errorf("unfinished: got %v, %v, want 2 and 3", runs, err)
	}
	if runs, err := state.Unfinished(t.Context(), path+".missing"); err != nil || len(runs) != 0 {
		t.Errorf("unfinished in no database: got %v, %v", runs, err)
	}
	s, err := state.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got, err := s.Runs(t.Context(), agents.RunFilter{Owner: "ada", Limit: 5})
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	want := []agents.RunInfo{{ID: "1", Thread: "t1", Owner: "ada", Assistant: "core", Status: agents.Success, Version: 3, Created: noon.Add(5 * time.Millisecond), Updated: noon.Add(time.Second)}}
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("ada's: %v, %s", err, cmp.Diff(want, got))
	}
	if got, err := s.Runs(t.Context(), agents.RunFilter{Owner: "bob", Limit: 5}); err != nil || len(got) != 1 || got[0].ID != "2" {
		t.Errorf("bob's: got %v, %v, want run 2", got, err)
	}
	unfinished, err := s.Runs(t.Context(), agents.RunFilter{Status: []agents.Status{agents.Pending, agents.Running}, Limit: 5})
	if err != nil || len(unfinished) != 2 {
		t.Errorf("unfinished: got %v, %v, want two", unfinished, err)
	}
	r, err := s.Run(t.Context(), "3")
	if err == nil || r == nil || r.Thread != "t3" || r.Version != 3 {
		t.Errorf("a run that cannot be read: got %+v, %v, want what the columns say", r, err)
	}
}

// What the newest migrations added works in a database of the first one: a thread from before stands where
// it stood, can be written to, taken back and listed, and everything that users keep has its tables.
func TestUpgradedThreadsGoOn(t *testing.T) {
	path := madeBefore(t, func(tx *store.Tx) error {
		if _, err := tx.Exec(`INSERT INTO threads (id, owner, created, updated, status, metadata, messages, ephemeral) VALUES ('t', 'ada', 1, 2, 'idle', '{"a":1}', 2, 0)`); err != nil {
			return err
		}
		for seq, data := range []string{`{"role":"user","content":"hello"}`, `{"role":"assistant","content":"hi"}`} {
			if _, err := tx.Exec(`INSERT INTO messages (thread, seq, data) VALUES ('t', ?, ?)`, seq, data); err != nil {
				return err
			}
		}
		return nil
	})
	s, err := state.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	before, err := s.Tree(t.Context(), "t")
	if err != nil || len(before.Writes) != 2 || before.Head != 1 || before.Writes[1].Parent != 0 || before.Floor != 0 {
		t.Fatalf("got %+v, %v", before, err)
	}
	// A branch after the first message.
	write := tree.Write{Message: &model.Message{Role: model.RoleUser, Content: "other"}, Created: now, Source: tree.Update, Change: tree.Change{Values: map[string]any{"mood": "good"}}}
	if _, err := s.Write(t.Context(), "t", 0, 2, []tree.Write{write}); err != nil {
		t.Fatal(err)
	}
	after, err := s.Tree(t.Context(), "t")
	if now := after.State(after.Head); err != nil || len(now.Messages) != 2 || now.Messages[1].Content != "other" || now.Values["mood"] != "good" {
		t.Errorf("got %+v, %v", now, err)
	}
	found, total, err := s.Threads(t.Context(), agents.ThreadFilter{Owner: "ada", Metadata: map[string]any{"a": 1}, Values: map[string]any{"mood": "good"}, Limit: 5})
	if err != nil || total != 1 || len(found) != 1 || found[0].TTL != 0 {
		t.Errorf("got %v, %d, %v", found, total, err)
	}
	ttl := time.Minute
	if _, err := s.UpdateThread(t.Context(), "t", agents.ThreadPatch{TTL: &ttl}, now); err != nil {
		t.Fatal(err)
	}
	if ids, err := s.ExpiredThreads(t.Context(), now.Add(2*time.Minute), 5); err != nil || !cmp.Equal(ids, []string{"t"}) {
		t.Errorf("expired: got %v, %v", ids, err)
	}
	item := items.Item{Owner: "ada", Namespace: []string{"a"}, Key: "k", Value: json.RawMessage(`{}`), Created: now, Updated: now}
	if err := s.PutItem(t.Context(), item, items.Room{Items: 1, Bytes: 10}); err != nil {
		t.Error(err)
	}
	if err := s.CreateCron(t.Context(), cron.Cron{ID: "c", Owner: "ada", Next: now}, 1); err != nil {
		t.Error(err)
	}
	if due, err := s.DueCrons(t.Context(), now, 5); err != nil || len(due) != 1 {
		t.Errorf("due: got %v, %v", due, err)
	}
}

// Lists that are asked for often do not read the whole table.
func TestRunsAreFoundByIndex(t *testing.T) {
	explain := plans(t)
	for _, tc := range []struct {
		name   string
		filter agents.RunFilter
		index  string
	}{
		{"thread", agents.RunFilter{Thread: "t", Limit: 1}, "runs_thread"},
		{"owner", agents.RunFilter{Owner: "ada", Limit: 10}, "runs_owner"},
		{"owner and status", agents.RunFilter{Owner: "ada", Status: []agents.Status{agents.Success}, Limit: 10}, "runs_owner"},
		{"unfinished", agents.RunFilter{Status: []agents.Status{agents.Pending, agents.Running}, Limit: 10}, "runs_unfinished"},
	} {
		query, args := state.RunsQuery(tc.filter)
		if plan := strings.Join(explain(query, args...), "; "); !strings.Contains(plan, tc.index) {
			t.Errorf("%s: the plan is %s, want %s in it", tc.name, plan, tc.index)
		}
	}
}
