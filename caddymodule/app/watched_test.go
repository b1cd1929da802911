package app

import (
	"errors"
	"testing"

	"github.com/svc-gateway/svc/internal/health"
)

// A database that takes the place of another of its name is the one that counts: the earlier one says
// nothing any more, and its end removes nothing.
func TestWatchedAgain(t *testing.T) {
	var w watched
	first, endFirst := w.add("database", "duckdb")
	first("writer_stopped", errors.New("gone"))
	if got := w.parts()["database"]; got.Status != health.Degraded || got.Reason != "writer_stopped" {
		t.Errorf("got %+v of a database in trouble", got)
	}
	second, endSecond := w.add("database", "duckdb")
	first("writer_stopped", errors.New("gone"))
	endFirst()
	if got := w.parts()["database"]; got.Status != health.OK {
		t.Errorf("got %+v, want the second database's", got)
	}
	second("version", errors.New("old"))
	if got := w.parts()["database"]; got.Reason != "version" {
		t.Errorf("got %+v of the second in trouble", got)
	}
	endSecond()
	second("", nil)
	if got, ok := w.parts()["database"]; ok {
		t.Errorf("got %+v of a database that is closed", got)
	}
}
