package undo_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents/undo"
)

// change writes a file as a tool does: what it held is kept first.
func change(t *testing.T, k *undo.Keeper, run, path, text string) {
	t.Helper()
	before, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		before, err = nil, nil
	}
	if err == nil {
		err = k.Keep(undo.Change{Run: run, Call: "c", Path: path}, before, []byte(text))
	}
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// read is what the files of a folder hold.
func read(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(text)
	}
	return all
}

func TestRestore(t *testing.T) {
	for _, tc := range []struct {
		name  string
		since func(t *testing.T, dir string)
		force bool
		err   string
		want  map[string]string
	}{
		{"as the run left it", nil, false, "", map[string]string{"a": "1", "empty": ""}},
		{"a file was changed", func(t *testing.T, dir string) { write(t, dir+"/a", "x") }, false, "somebody has changed DIR/a since", map[string]string{"a": "x", "b": "3", "empty": "e"}},
		{"a file was changed, forced", func(t *testing.T, dir string) { write(t, dir+"/a", "x") }, true, "", map[string]string{"a": "1", "empty": ""}},
		{"a new file was changed", func(t *testing.T, dir string) { write(t, dir+"/b", "x") }, false, "somebody has changed DIR/b since", map[string]string{"a": "3", "b": "x", "empty": "e"}},
		{"a new file is gone", func(t *testing.T, dir string) { _ = os.Remove(dir + "/b") }, false, "", map[string]string{"a": "1", "empty": ""}},
		{"a file is gone", func(t *testing.T, dir string) { _ = os.Remove(dir + "/a") }, false, "somebody has changed DIR/a since", map[string]string{"b": "3", "empty": "e"}},
		{"a file is gone, forced", func(t *testing.T, dir string) { _ = os.Remove(dir + "/a") }, true, "", map[string]string{"a": "1", "empty": ""}},
		{"restored by hand", func(t *testing.T, dir string) { write(t, dir+"/a", "1") }, false, "", map[string]string{"a": "1", "empty": ""}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir, k := t.TempDir(), &undo.Keeper{Dir: t.TempDir() + "/undo"}
			write(t, dir+"/a", "1")
			write(t, dir+"/empty", "")
			change(t, k, "r1", dir+"/a", "2")
			change(t, k, "r1", dir+"/b", "3")
			change(t, k, "r1", dir+"/a", "3")
			change(t, k, "r1", dir+"/empty", "e")
			if tc.since != nil {
				tc.since(t, dir)
			}
			_, err := k.Restore("r1", tc.force)
			want := strings.ReplaceAll(tc.err, "DIR", dir)
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
			if d := cmp.Diff(tc.want, read(t, dir)); d != "" {
				t.Error(d)
			}
			if _, again := k.Restore("r1", false); err == nil && !errors.Is(again, undo.ErrNone) {
				t.Errorf("once more: got %v", again)
			}
		})
	}
}

// Between two changes of the run somebody else wrote: that would be lost.
func TestChangedInBetween(t *testing.T) {
	dir, k := t.TempDir(), &undo.Keeper{Dir: t.TempDir()}
	write(t, dir+"/a", "1")
	change(t, k, "r1", dir+"/a", "2")
	write(t, dir+"/a", "of somebody")
	change(t, k, "r1", dir+"/a", "3")
	if _, err := k.Restore("r1", false); err == nil || !strings.Contains(err.Error(), "somebody has changed") {
		t.Errorf("got %v", err)
	}
}

// The attack: after the run, a folder becomes a link, so that undoing writes elsewhere.
func TestRestoreFollowsNoLinkRegression(t *testing.T) {
	dir, k := t.TempDir(), &undo.Keeper{Dir: t.TempDir()}
	for _, d := range []string{"/sub", "/victim"} {
		if err := os.Mkdir(dir+d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, dir+"/sub/a", "old")
	change(t, k, "r1", dir+"/sub/a", "new")
	change(t, k, "r1", dir+"/sub/made", "new")
	write(t, dir+"/victim/a", "new")
	write(t, dir+"/victim/made", "new")
	if err := errors.Join(os.RemoveAll(dir+"/sub"), os.Symlink("victim", dir+"/sub")); err != nil {
		t.Fatal(err)
	}
	for _, force := range []bool{false, true} {
		if done, err := k.Restore("r1", force); err == nil {
			t.Errorf("force %v: got %v", force, done)
		}
	}
	if d := cmp.Diff(map[string]string{"a": "new", "made": "new"}, read(t, dir+"/victim")); d != "" {
		t.Error(d)
	}
}

func TestBadRuns(t *testing.T) {
	k := &undo.Keeper{Dir: t.TempDir()}
	for _, run := range []string{"", "..", "a/b", "."} {
		if _, err := k.Restore(run, false); err == nil || errors.Is(err, undo.ErrNone) {
			t.Errorf("%q: got %v", run, err)
		}
	}
	if err := k.Keep(undo.Change{Run: "r", Path: "/x"}, make([]byte, undo.MaxRun+1), nil); err == nil {
		t.Error("more than a run may change was kept")
	}
}
