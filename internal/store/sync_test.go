package store_test

import (
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/svc-gateway/svc/internal/store"
)

// Sync works with a log and without one, and does not disturb whoever writes.
func TestSync(t *testing.T) {
	for _, full := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "x.db")
		schema := fstest.MapFS{"00001_x.sql": {Data: []byte("-- +goose Up\nCREATE TABLE x (n INTEGER);\n-- +goose Down\nDROP TABLE x;\n")}}
		db, err := store.Open(t.Context(), path, schema, store.Options{Full: full})
		if err != nil {
			t.Fatal(err)
		}
		for n := range 3 {
			err := db.Write(t.Context(), func(tx *store.Tx) error { _, err := tx.Exec(`INSERT INTO x VALUES (?)`, n); return err })
			if err != nil {
				t.Fatal(err)
			}
			if err := db.Sync(); err != nil {
				t.Errorf("full=%t: %v", full, err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if err := db.Sync(); err != nil { // it has left the log
			t.Errorf("full=%t, without a log: %v", full, err)
		}
	}
}
