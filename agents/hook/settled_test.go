package hook

import (
	"os"
	"strings"
	"testing"
)

// A change of the folder's rights counts although the file is as it was.
func TestAFolderThatOthersMayWriteToIsNoticedLater(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	f := file{path: dir + "/hooks.json", user: os.Geteuid()}
	if err := os.WriteFile(f.path, []byte(`{"hooks":[{"event":"tool.call","command":"true"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name    string
		mode    os.FileMode
		hooks   int
		changed bool
		want    string
	}{
		{"first", 0o700, 1, true, ""},
		{"as before", 0o700, 1, false, ""},
		{"open", 0o777, 0, true, "its folder can be written by others"},
		{"still open", 0o777, 0, false, ""},
		{"closed", 0o750, 1, true, ""},
	} {
		if err := os.Chmod(dir, tc.mode); err != nil {
			t.Fatal(err)
		}
		changed, mistakes := f.load()
		f.settled = true // as it is later
		if changed != tc.changed || len(f.entries) != tc.hooks {
			t.Errorf("%s: got changed %v and %d hooks, want %v and %d", tc.name, changed, len(f.entries), tc.changed, tc.hooks)
		}
		if got := len(mistakes); got > 1 || (got == 1) != (tc.want != "") || got == 1 && !strings.Contains(mistakes[0].Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", tc.name, mistakes, tc.want)
		}
	}
}

// Without a change, the file is not read again.
func BenchmarkLook(b *testing.B) {
	f := file{path: b.TempDir() + "/hooks.json", user: os.Geteuid()}
	if err := os.WriteFile(f.path, []byte(none), 0o600); err != nil {
		b.Fatal(err)
	}
	f.load()
	f.settled = true
	for b.Loop() {
		f.load()
	}
}
