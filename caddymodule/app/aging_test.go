package app

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/svc-gateway/svc/audit/audittest"
	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/identitytest"
)

func TestWarnOfOldTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		log := audittest.Open(t, filepath.Join(dir, "audit.db"))
		s := identitytest.Open(t, filepath.Join(dir, "identity.db"), log, bus.NewMemory())
		if _, _, err := s.AddUser(t.Context(), identity.OSPrincipal(0), identity.AddUser{Name: "bob", Role: policy.User}); err != nil {
			t.Fatal(err)
		}
		core, seen := observer.New(zap.WarnLevel)
		warnOfOldTokens(t.Context(), s, zap.New(core))
		time.Sleep(identity.RotateAfter)
		warnOfOldTokens(t.Context(), s, zap.New(core))
		entries := seen.All()
		if len(entries) != 1 {
			t.Fatalf("got %d warnings, want one", len(entries))
		}
		if f := entries[0].ContextMap(); f["user"] != "bob" || f["token"] != "default" || f["age_days"] != int64(90) || len(f["token_id"].(string)) != 12 {
			t.Errorf("got %v", f)
		}
	})
}
