package inventory_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents/analytics"
	"github.com/svc-gateway/svc/agents/inventory"
	"github.com/svc-gateway/svc/internal/ducktest"
	"github.com/svc-gateway/svc/internal/duckwire"
)

// What is imported is found, and replaces what was there; another table of that name is refused.
func TestTable(t *testing.T) {
	dir := t.TempDir()
	db := analytics.Open(analytics.Config{
		Helper: ducktest.Helper(t), Folder: filepath.Join(dir, "db"), Snapshots: filepath.Join(dir, "snap"), Socket: filepath.Join(dir, "s"),
		Lock: filepath.Join(dir, "l"), MaxAge: time.Hour, Time: time.Minute, Memory: 512 << 20, Threads: 1,
	})
	ctx := t.Context()
	if err := db.Use(ctx); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	table := inventory.NewTable(db)
	if _, err := table.Load(ctx); !errors.Is(err, inventory.ErrEmpty) {
		t.Fatalf("got %v, want %v", err, inventory.ErrEmpty)
	}
	first := []inventory.Device{
		{Name: "b", Address: "fd00::1", Port: 2222, Platform: "junos", Groups: []string{"core", "x"}},
		{Name: "2024-01-01", Address: "10.0.0.1", Port: 22, Site: "2024-01-01", Serial: "007"},
	}
	second := []inventory.Device{{Name: "c", Port: 22}}
	for _, devices := range [][]inventory.Device{first, second} {
		if err := table.Import(ctx, devices); err != nil {
			t.Fatal(err)
		}
		got, err := table.Load(ctx)
		if err != nil {
			t.Fatal(err)
		}
		want := inventory.List(devices)
		if len(want) == 2 {
			want = inventory.List{first[1], first[0]}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("inventory (-want +got):\n%s", diff)
		}
	}
	bad := `{"name":"a;reload","address":"","port":22,"platform":"","site":"","role":"","status":"","model":"","serial":"","groups":[]}`
	if _, err := db.Import(ctx, analytics.File{Table: "inventory", Format: duckwire.FormatJSON, Mode: duckwire.ModeReplace}, strings.NewReader(bad)); err != nil {
		t.Fatal(err)
	}
	if err := db.Publish(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := table.Load(ctx); err == nil || !strings.Contains(err.Error(), "was not made by service inventory import") {
		t.Errorf("got %v, want a refusal", err)
	}
}
