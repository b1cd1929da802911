package store

import "testing"

// Waiting is how many operations wait for the writer.
func Waiting(d *DB) int { return len(d.urgent) }

// Look returns the check of a database's files.
func Look(tb testing.TB, path string) func() error {
	p, err := newPlace(path)
	if err != nil {
		tb.Fatal(err)
	}
	return p.check
}
