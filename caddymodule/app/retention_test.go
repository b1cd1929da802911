package app

import (
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/audit/audittest"
	"github.com/svc-gateway/svc/internal/settings"
)

func TestPruneSaysWhatItRemoves(t *testing.T) {
	log := audittest.Open(t, filepath.Join(t.TempDir(), "audit.db"))
	for _, age := range []time.Duration{30 * time.Hour, 0} {
		if err := log.Record(t.Context(), audit.Event{Type: audit.Request, User: "ann", Time: time.Now().Add(-age)}); err != nil {
			t.Fatal(err)
		}
	}
	core, seen := observer.New(zap.InfoLevel)
	for range 2 {
		prune(t.Context(), log, settings.Retention{Requests: time.Hour}, zap.New(core))
	}
	entries := seen.All()
	if len(entries) != 1 || entries[0].ContextMap()["records"] != int64(1) {
		t.Errorf("got %v, want one line of one record", entries)
	}
}
