package state

import (
	"path/filepath"
	"testing"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/internal/store"
)

// The number of a user's threads is kept beside them. It is what counting would give, whatever happens to them.
func TestThreadsAreCounted(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, change := range []string{
		`INSERT INTO threads (id, owner, created, updated, status, metadata, messages, ephemeral)
			VALUES ('1', 'ada', 1, 1, 'idle', '{}', 0, 0), ('2', 'ada', 1, 1, 'busy', '{}', 0, 0), ('3', 'bob', 1, 1, 'idle', '{}', 0, 1), ('4', 'ada', 1, 1, 'deleted', '{}', 0, 0)`,
		`INSERT INTO threads (id, owner, created, updated, status, metadata, messages, ephemeral) VALUES ('1', 'bob', 1, 1, 'idle', '{}', 0, 0) ON CONFLICT (id) DO NOTHING`,
		`UPDATE threads SET status = 'interrupted' WHERE id = '1'`,
		`UPDATE threads SET status = 'busy', ephemeral = 0 WHERE id = '3'`,
		`UPDATE threads SET status = 'busy', ephemeral = 0 WHERE id = '3'`,
		`UPDATE threads SET status = 'deleted' WHERE id IN ('2', '3')`,
		`DELETE FROM threads WHERE id IN ('2', '4')`,
		`DELETE FROM threads`,
	} {
		err := s.db.Write(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(change)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, owner := range []string{"ada", "bob", "eve", ""} {
			f := agents.ThreadFilter{Owner: owner, Limit: 10}
			list, total, err := s.Threads(t.Context(), f)
			if err != nil || len(list) != total {
				t.Errorf("after %s: %q: got %d of %d threads, %v", change, owner, len(list), total, err)
			}
		}
	}
}
