package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/audit/audittest"
	"github.com/svc-gateway/svc/internal/health"
	"github.com/svc-gateway/svc/internal/settings"
)

// archiveHome is a data folder whose log has runs that have been over for a day, and a newer one.
func archiveHome(t *testing.T, runs int) (settings.Home, *audit.Log) {
	t.Helper()
	home, err := settings.Locate(func(string) (string, bool) { return t.TempDir(), true }, "")
	if err == nil {
		err = home.Create()
	}
	if err != nil {
		t.Fatal(err)
	}
	log := audittest.Open(t, home.AuditDB())
	for i := range runs {
		at := time.Now().Add(-30 * time.Hour)
		e := audit.Event{Type: audit.RunEnd, Run: fmt.Sprint(i), Time: at}
		if err := errors.Join(log.Queue(t.Context(), e), log.RecordRun(t.Context(), audit.RunRecord{Run: e.Run, Time: at})); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(log.RecordRun(t.Context(), audit.RunRecord{Run: "newest"}), log.Flush(t.Context())); err != nil {
		t.Fatal(err)
	}
	return home, log
}

func TestArchiveOld(t *testing.T) {
	home, log := archiveHome(t, 3)
	core, seen := observer.New(zap.InfoLevel)
	for _, keep := range []settings.Retention{{ToolCalls: 31 * time.Hour}, {ToolCalls: time.Hour}, {ToolCalls: time.Hour}} {
		if err := archiveOld(t.Context(), log, home, keep, zap.New(core)); err != nil {
			t.Fatal(err)
		}
	}
	entries := seen.All()
	if len(entries) != 1 || entries[0].ContextMap()["records"] != int64(6) {
		t.Errorf("got %v, want one line of 6 records", entries)
	}
	all := Verify(t.Context(), home)
	if len(all) != 2 || len(all[0].Faults)+len(all[1].Faults) > 0 || all[1].Records != 6 {
		t.Errorf("got %+v, want the log and an archive of 6 records without faults", all)
	}
	// What is wrong with an archive is told.
	file := all[1].File
	if err := os.WriteFile(file, []byte("no archive"), 0o600); err != nil {
		t.Fatal(err)
	}
	if all := Verify(t.Context(), home); len(all) != 2 || len(all[1].Faults) == 0 {
		t.Errorf("a file that was overwritten: got %+v", all)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	all = Verify(t.Context(), home)
	if diff := cmp.Diff([]string{filepath.Base(file)}, all[0].Elsewhere); len(all) != 1 || diff != "" {
		t.Errorf("a file that is elsewhere (-want +got):\n%s", diff)
	}
}

func TestArchiveState(t *testing.T) {
	core, seen := observer.New(zap.InfoLevel)
	var s archiveState
	started := time.Now()
	for _, c := range []struct {
		err    error
		reason string
		lines  int // of the log by then
	}{
		{nil, "", 0},
		{&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, "full", 1},
		{&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, "full", 1},
		{fmt.Errorf("x: %w", fs.ErrPermission), "permission", 2},
		{fmt.Errorf("x: %w", audit.ErrChanged), "changed", 3},
		{fmt.Errorf("x: %w", fs.ErrExist), "file_exists", 4},
		{audit.ErrUnavailable, "unavailable", 5},
		{nil, "", 6},
	} {
		s.tell(c.err, zap.New(core))
		p := s.part(started)
		if p.Reason != c.reason || (p.Status == health.OK) != (c.reason == "") || seen.Len() != c.lines {
			t.Errorf("%v: got %+v after %d lines, want the reason %q and %d", c.err, p, seen.Len(), c.reason, c.lines)
		}
	}
}

// A run that its database has as unfinished stays, whatever the log says.
func TestArchiveKeepsUnfinishedRuns(t *testing.T) {
	home, log := archiveHome(t, 3)
	was := databases
	defer func() { databases = was }()
	RegisterDatabase(Database{
		Path:       settings.Home.StateDB,
		Unfinished: func(context.Context, string) ([]string, error) { return []string{"1"}, nil },
	})
	if err := archiveOld(t.Context(), log, home, settings.Retention{ToolCalls: time.Hour}, zap.NewNop()); err != nil {
		t.Fatal(err)
	}
	var left []string
	runs, err := log.Runs(t.Context(), audit.Filter{})
	for _, r := range runs {
		left = append(left, r.Run)
	}
	if diff := cmp.Diff([]string{"1", "newest"}, left); err != nil || diff != "" {
		t.Errorf("left (-want +got):\n%s%v", diff, err)
	}
}

// Where a folder cannot be made nothing leaves the log.
func TestArchiveWithoutAFolder(t *testing.T) {
	home, log := archiveHome(t, 3)
	if err := os.WriteFile(home.AuditArchive(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := archiveOld(t.Context(), log, home, settings.Retention{ToolCalls: time.Hour}, zap.NewNop()); err == nil {
		t.Error("got no error")
	}
	if runs, err := log.Runs(t.Context(), audit.Filter{}); err != nil || len(runs) != 4 {
		t.Errorf("%d turns are left, %v, want all 4", len(runs), err)
	}
}
