package tools

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/undo"
)

func TestWriteFiles(t *testing.T) {
	root, w := project(t)
	outside := filepath.Join(filepath.Dir(root), "outside")
	if err := os.Link(filepath.Join(root, ".svc/token"), filepath.Join(root, "hard")); err != nil {
		t.Fatal(err)
	}
	k := &undo.Keeper{Dir: t.TempDir()}
	writer := &Writer{w: w, undo: k}
	for _, tc := range []struct {
		name     string
		args     map[string]any // with old: edit_file
		approved bool
		err      string
		path     string // that has the text then
		want     string
	}{
		{"a new file", map[string]any{"path": "new/deep/x", "content": "a\n"}, false, "", "new/deep/x", "a\n"},
		{"over a file", map[string]any{"path": "README.md", "content": "b"}, false, "", "README.md", "b"},
		{"empty", map[string]any{"path": "empty", "content": ""}, false, "", "empty", ""},
		{"absolute", map[string]any{"path": root + "/abs", "content": "c"}, false, "", "abs", "c"},
		{"over a link inside", map[string]any{"path": "inside", "content": "d"}, false, "", "sub/a.txt", "d"},
		{"through a folder's link", map[string]any{"path": "insidedir/y", "content": "e"}, false, "", "sub/y", "e"},
		{"an edit", map[string]any{"path": "sub/deep/b.txt", "old": "b", "new": "B"}, false, "", "sub/deep/b.txt", "B\n"},
		{"an edit of nothing", map[string]any{"path": "sub/deep/b.txt", "old": "zzz", "new": "B"}, false, "does not contain", "", ""},
		{"an edit of two places", map[string]any{"path": "sub/y", "old": "", "new": "B"}, false, `"old" must be a string that is not empty`, "", ""},
		{"an edit of no file", map[string]any{"path": "none", "old": "a", "new": "B"}, false, "does not exist", "none", "-"},
		{"outside", map[string]any{"path": outside + "/made", "content": "x"}, false, "has to approve", "../outside/made", "-"},
		{"outside, by dots", map[string]any{"path": "../outside/made", "content": "x"}, true, "by its absolute path", "../outside/made", "-"},
		{"outside, approved", map[string]any{"path": outside + "/made", "content": "x"}, true, "", "../outside/made", "x"},
		{"an edit outside, approved", map[string]any{"path": outside + "/made", "old": "x", "new": "y"}, true, "", "../outside/made", "y"},
		{"over a link to outside", map[string]any{"path": "up", "content": "x"}, true, "leads outside", "../outside/secret.txt", secret},
		{"through a link to outside", map[string]any{"path": "updir/made2", "content": "x"}, false, "outside", "../outside/made2", "-"},
		{"through a magic link", map[string]any{"path": "proc", "content": "x"}, false, "outside", "../outside/secret.txt", secret},
		{"the data folder", map[string]any{"path": ".svc/token", "content": "x"}, true, "data folder", ".svc/token", secret},
		{"a new file in the data folder", map[string]any{"path": "data/new/x", "content": "x"}, true, "data folder", ".svc/new", "-"},
		{"a hard link to the data folder", map[string]any{"path": "hard", "content": "x"}, true, "data folder", ".svc/token", secret},
		{"a folder", map[string]any{"path": "sub", "content": "x"}, false, "is a folder", "", ""},
		{"a FIFO", map[string]any{"path": "fifo", "content": "x"}, false, "is a FIFO", "", ""},
		{"a device", map[string]any{"path": "/dev/null", "content": "x"}, true, "only regular files", "", ""},
		{"too long", map[string]any{"path": "long", "content": strings.Repeat("x", maxWritten+1)}, false, "more than the 1048576", "long", "-"},
		{"no content", map[string]any{"path": "long"}, false, `"content" must be a string`, "long", "-"},
		{"a NUL", map[string]any{"path": "a\x00b", "content": "x"}, false, "NUL", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			call := writer.writeFile
			if _, ok := tc.args["old"]; ok {
				call = writer.editFile
			}
			r, err := call(t.Context(), agents.ToolContext{Run: "r1", Call: "c", Approved: tc.approved}, tc.args)
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("got %q, %v, want %q", r.Text, err, tc.err)
			}
			if tc.path == "" {
				return
			}
			got, err := os.ReadFile(filepath.Join(root, tc.path))
			if errors.Is(err, os.ErrNotExist) {
				got = []byte("-")
			}
			if string(got) != tc.want {
				t.Errorf("%s holds %q, want %q", tc.path, got, tc.want)
			}
		})
	}
	if _, err := k.Restore("r1", false); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"README.md": "# Hello\nsecond\nthird\n", "sub/a.txt": "a\n", "sub/deep/b.txt": "b\n", "new/deep/x": "-", "../outside/made": "-"} {
		got, err := os.ReadFile(filepath.Join(root, path))
		if errors.Is(err, os.ErrNotExist) {
			got = []byte("-")
		}
		if string(got) != want {
			t.Errorf("undone: %s holds %q, want %q", path, got, want)
		}
	}
}

// A person is asked about what is outside, and not about what would be refused after that.
func TestClassifyWrites(t *testing.T) {
	root, w := project(t)
	outside := filepath.Join(filepath.Dir(root), "outside")
	for _, tc := range []struct {
		path    string
		asked   bool
		refused string
	}{
		{"new", false, ""},
		{"inside", false, ""},
		{root + "/x", false, ""},
		{outside + "/x", true, ""},
		{"../outside/x", true, "absolute path"},
		{"up", true, "leads outside"},
		{"updir/x", true, "leads outside"},
		{outside + "/../outside/x", true, "absolute path"},
	} {
		c := (&Writer{w: w}).classify(map[string]any{"path": tc.path, "content": "x"})
		if (len(c.Categories) > 0) != tc.asked || (c.Refused == "") != (tc.refused == "") || !strings.Contains(c.Refused, tc.refused) || len(c.Paths) == 0 || c.Where == "" {
			t.Errorf("%s: got %+v", tc.path, c)
		}
	}
}
