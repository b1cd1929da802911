package state_test

import (
	"path/filepath"
	"testing"

	"github.com/svc-gateway/svc/agents/state"
	"github.com/svc-gateway/svc/audit"
)

// What is noted of the audit log can be read before the database is opened, also from a backup.
func TestWitness(t *testing.T) {
	dir := t.TempDir()
	path, copied := filepath.Join(dir, "state.db"), filepath.Join(dir, "copy.db")
	if m, err := state.Witnessed(t.Context(), path); m != (audit.Mark{}) || err != nil {
		t.Errorf("no database: got %+v, %v", m, err)
	}
	s, err := state.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := state.Witnessed(t.Context(), path); m != (audit.Mark{}) || err != nil {
		t.Errorf("a new database: got %+v, %v", m, err)
	}
	for _, want := range []audit.Mark{{Log: "a", Seq: 5}, {Log: "b", Seq: 2}} {
		if err := s.Witness(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		if m, err := state.Witnessed(t.Context(), path); m != want || err != nil {
			t.Errorf("got %+v, %v, want %+v", m, err, want)
		}
	}
	if err := state.Backup(t.Context(), path, copied); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if m, err := state.Witnessed(t.Context(), copied); m != (audit.Mark{Log: "b", Seq: 2}) || err != nil {
		t.Errorf("the backup: got %+v, %v", m, err)
	}
	for _, p := range []string{path, copied} {
		if err := state.Check(t.Context(), p); err != nil {
			t.Error(err)
		}
	}
}
