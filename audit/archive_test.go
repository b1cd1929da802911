package audit_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/audit/audittest"
	"github.com/svc-gateway/svc/audit/sqlite"
)

// addRuns records runs that are over since a while, with two calls each.
func addRuns(t testing.TB, l *audit.Log, n int, ended time.Time) {
	t.Helper()
	for i := range n {
		run := runName(i, ended)
		at := ended.Add(-time.Duration(n-i) * time.Second)
		e := func(kind, call, output string) audit.Event {
			return audit.Event{Type: kind, Run: run, Thread: "t", Call: call, User: "ann", Time: at, Tool: "df", Output: output, Labels: []string{"user"}}
		}
		err := l.Queue(t.Context(), e(audit.RunStart, "", ""),
			e(audit.ToolStart, "a", ""), e(audit.ToolEnd, "a", "42%\n\"\x01\U0001F600"), e(audit.ToolDenied, "b", ""), e(audit.RunEnd, "", ""))
		if err == nil {
			err = l.RecordRun(t.Context(), audit.RunRecord{Run: run, Time: at, User: "ann", Model: "demo", TotalTokens: 7, Estimated: i%2 == 0, Duration: 0.25})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func runName(i int, ended time.Time) string { return fmt.Sprintf("run-%d-%d", i, ended.UnixNano()) }

// kept are the records of runs that are in the log and in the archives it knows, and how often each is
// there. What the log says of an archive is true.
func kept(t *testing.T, l *audit.Log, folder string) map[string]int {
	t.Helper()
	all := map[string]int{}
	events, err := l.Events(t.Context(), audit.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if strings.HasPrefix(e.Type, "run.") || strings.HasPrefix(e.Type, "tool.") {
			all["event "+e.Hash]++
		}
	}
	turns, err := l.Runs(t.Context(), audit.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range turns {
		all["turn "+r.Hash]++
	}
	archives, err := l.Archives(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range archives {
		path := filepath.Join(folder, a.File)
		is, err := audit.CheckArchive(path)
		if err != nil {
			t.Error(err)
		}
		a.Before = ""
		if diff := cmp.Diff(a, is); diff != "" {
			t.Errorf("the log says otherwise of an archive (-log +file):\n%s", diff)
		}
		for e, err := range audit.ReadArchive(path) {
			switch {
			case err != nil:
				t.Fatal(err)
			case e.Event != nil:
				all["event "+e.Event.Hash]++
			default:
				all["turn "+e.Turn.Hash]++
			}
		}
	}
	return all
}

func files(t *testing.T, folder string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, f := range all {
		names = append(names, f.Name())
	}
	return names
}

func TestArchive(t *testing.T) {
	l := open(t)
	now := time.Now()
	addRuns(t, l, 10, now.Add(-48*time.Hour))
	addRuns(t, l, 3, now)
	if err := l.Record(t.Context(), audit.Event{Type: audit.ToolWait, Run: "waits", Call: "c", Time: now.Add(-72 * time.Hour)}); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "archive")
	want := kept(t, l, folder)
	var told []audit.Archived
	a := audit.Archiving{
		Folder: folder, Before: now.Add(-24 * time.Hour), User: "ann", Role: "admin",
		Unfinished: func(context.Context) ([]string, error) {
			return []string{runName(4, now.Add(-48*time.Hour))}, nil
		},
		Each: func(done audit.Archived) error { told = append(told, done); return nil },
	}
	for range 2 { // the second time there is nothing to do
		if err := l.Archive(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	if len(told) != 1 || told[0].Runs != 9 || told[0].Events != 45 || told[0].Turns != 9 {
		t.Fatalf("got %+v, want one archive of 9 runs", told)
	}
	if diff := cmp.Diff(want, kept(t, l, folder)); diff != "" {
		t.Errorf("records are lost or there twice (-want +got):\n%s", diff)
	}
	archives, err := l.Archives(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(told, archives); diff != "" {
		t.Errorf("the log says otherwise (-told +log):\n%s", diff)
	}
	if got := files(t, folder); len(got) != 1 || got[0] != told[0].File {
		t.Errorf("got the files %v, want %s alone", got, told[0].File)
	}
	for path, want := range map[string]os.FileMode{folder: 0o700, filepath.Join(folder, told[0].File): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: got the mode %v, %v, want %v", path, info.Mode(), err, want)
		}
	}
	if _, rows, err := l.Query(t.Context(), audit.Filter{}, `SELECT count(*) FROM tool_calls`, audit.Limits{}); err != nil || rows[0][0] != int64(2*4+1) {
		t.Errorf("got %v, %v calls in the log, want those of 4 runs and the one that waits", rows, err)
	}
	// What left can be asked as before.
	r, err := sqlite.OpenArchives([]string{filepath.Join(folder, told[0].File)})
	if err != nil {
		t.Fatal(err)
	}
	_, rows, err := r.Query(t.Context(), audit.Filter{}, `SELECT status, count(*) FROM tool_calls GROUP BY 1 ORDER BY 1`, audit.Limits{})
	if diff := cmp.Diff([][]any{{"denied", int64(9)}, {"success", int64(9)}}, rows); err != nil || diff != "" {
		t.Errorf("the archive (-want +got):\n%s%v", diff, err)
	}
	_, rows, err = r.Query(t.Context(), audit.Filter{}, `SELECT sum(total_tokens), sum(estimated), max(duration) FROM audit_runs`, audit.Limits{})
	if diff := cmp.Diff([][]any{{int64(63), int64(4), 0.25}}, rows); err != nil || diff != "" {
		t.Errorf("the archive (-want +got):\n%s%v", diff, err)
	}
}

func TestArchiveWaitsForMore(t *testing.T) {
	l := open(t)
	now := time.Now()
	addRuns(t, l, 3, now.Add(-30*time.Hour))
	a := audit.Archiving{Folder: filepath.Join(t.TempDir(), "archive"), Before: now.Add(-29 * time.Hour), Least: 3}
	count := func() int { return len(files(t, a.Folder)) }
	for _, step := range []struct {
		before time.Duration
		least  int
		want   int
	}{{29 * time.Hour, 3, 0}, {29 * time.Hour, 2, 1}} { // the newest run stays: of three there are two
		a.Before, a.Least = now.Add(-step.before), step.least
		if err := l.Archive(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		if got := count(); got != step.want {
			t.Errorf("%+v: got %d files", step, got)
		}
	}
	addRuns(t, l, 1, now)
	a.Before, a.Least = now.Add(-5*time.Hour), 100
	if err := l.Archive(t.Context(), a); err != nil || count() != 2 {
		t.Errorf("a run that is overdue: got %d files, %v, want 2", count(), err)
	}
}

func TestArchiveBySize(t *testing.T) {
	l := open(t)
	addRuns(t, l, 100, time.Now().Add(-2*time.Hour))
	addRuns(t, l, 5, time.Now())
	a := audit.Archiving{Folder: filepath.Join(t.TempDir(), "archive"), Size: 1 << 30}
	if err := l.Archive(t.Context(), a); err != nil || len(files(t, a.Folder)) != 0 {
		t.Fatalf("there is room: got %v, %v", files(t, a.Folder), err)
	}
	a.Size = 1
	want := kept(t, l, a.Folder)
	if err := l.Archive(t.Context(), a); err != nil || len(files(t, a.Folder)) != 1 {
		t.Fatalf("got %v, %v, want one file", files(t, a.Folder), err)
	}
	if diff := cmp.Diff(want, kept(t, l, a.Folder)); diff != "" {
		t.Errorf("records are lost or there twice (-want +got):\n%s", diff)
	}
	if runs, err := l.Runs(t.Context(), audit.Filter{}); err != nil || len(runs) != 5 {
		t.Errorf("got %d runs left, %v, want the 5 of just now", len(runs), err)
	}
}

// What is left of an archive that was not finished goes; what is not ours stays.
func TestArchiveClears(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.db")
	folder := filepath.Join(t.TempDir(), "archive")
	l := audittest.Open(t, path)
	addRuns(t, l, 4, time.Now().Add(-2*time.Hour))
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		".archive-1": "half", "audit-7-8.jsonl.zst": "not zstd", "audit-9-9.jsonl.zst": "", "notes.txt": "mine",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Archive(t.Context(), audit.Archiving{Folder: folder}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"audit-7-8.jsonl.zst", "audit-9-9.jsonl.zst", "notes.txt"}, files(t, folder)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	// An archive of another log is not removed, and not replaced either.
	other := open(t)
	addRuns(t, other, 4, time.Now().Add(-2*time.Hour))
	theirs := filepath.Join(t.TempDir(), "archive")
	if err := other.Archive(t.Context(), audit.Archiving{Folder: theirs, Before: time.Now()}); err != nil {
		t.Fatal(err)
	}
	name := files(t, theirs)[0]
	text, err := os.ReadFile(filepath.Join(theirs, name))
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, name), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	again := audit.Archiving{Folder: folder + "/", Before: time.Now()} // another name of it: it is looked at again
	if err := l.Archive(t.Context(), again); err == nil || !strings.Contains(err.Error(), name+": file already exists") {
		t.Errorf("got %v, want an error that names %s", err, name)
	}
	if runs, err := l.Runs(t.Context(), audit.Filter{}); err != nil || len(runs) != 4 {
		t.Errorf("%d runs are left, %v, want all 4", len(runs), err)
	}
	if now, err := os.ReadFile(filepath.Join(folder, name)); err != nil || string(now) != string(text) {
		t.Errorf("the file of the other log was changed: %v", err)
	}
}

// A record that was changed stays where audit verify finds it, with its run; the others leave.
func TestArchiveLeavesWhatWasChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.db")
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	l := audit.New(s, "n")
	defer l.Close()
	at := time.Now().Add(-2 * time.Hour)
	forged := audit.Event{Time: at.UTC().Truncate(time.Millisecond), Node: "n", Type: audit.RunEnd, Run: "forged", Hash: strings.Repeat("0", 64)}
	if err := s.Append(t.Context(), audit.Batch{Events: []audit.Event{forged}}); err != nil {
		t.Fatal(err)
	}
	addRuns(t, l, 3, at.Add(time.Minute))
	folder := filepath.Join(t.TempDir(), "archive")
	for range 2 {
		err := l.Archive(t.Context(), audit.Archiving{Folder: folder, Before: time.Now()})
		if err == nil || !strings.Contains(err.Error(), "run forged is not archived: verifying event 1") {
			t.Errorf("got %v, want an error that names the run", err)
		}
	}
	if got := files(t, folder); len(got) != 1 {
		t.Errorf("got %v, want one archive of the others", got)
	}
	events, err := l.Events(t.Context(), audit.Filter{Run: "forged"})
	if err != nil || len(events) != 1 {
		t.Errorf("got %v, %v, want the changed record", events, err)
	}
}

// An archive that was changed or cut is not taken for one.
func TestCheckArchive(t *testing.T) {
	l := open(t)
	addRuns(t, l, 5, time.Now().Add(-2*time.Hour))
	folder := filepath.Join(t.TempDir(), "archive")
	if err := l.Archive(t.Context(), audit.Archiving{Folder: folder, Before: time.Now()}); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(filepath.Join(folder, files(t, folder)[0]))
	if err != nil {
		t.Fatal(err)
	}
	changed := append([]byte(nil), whole...)
	changed[len(changed)/2] ^= 1
	for name, text := range map[string]string{
		"cut": string(whole[:len(whole)-5]), "changed": string(changed), "text": "{}\n",
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if is, err := audit.CheckArchive(path); err == nil {
			t.Errorf("%s: got %+v, want an error", name, is)
		}
	}
}

// Recording goes on while runs are archived, and two archives at a time are one after the other.
func TestArchiveWhileRecording(t *testing.T) {
	l := open(t)
	folder := filepath.Join(t.TempDir(), "archive")
	addRuns(t, l, 50, time.Now().Add(-2*time.Hour))
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() { addRuns(t, l, 30, time.Now().Add(-time.Duration(i+3)*time.Hour)) })
	}
	for range 2 {
		wg.Go(func() {
			for range 5 {
				if err := l.Archive(t.Context(), audit.Archiving{Folder: folder, Before: time.Now().Add(-time.Hour)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	all := kept(t, l, folder)
	if len(all) != 140*6 {
		t.Errorf("got %d records, want %d", len(all), 140*6)
	}
	for record, n := range all {
		if n != 1 {
			t.Errorf("%s is there %d times", record, n)
		}
	}
}
