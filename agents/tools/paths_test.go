package tools

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/scanner/command"
)

// However a file is named, the policy sees which one it is.
func TestPaths(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"docs/deep", "src"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"src/link": "../docs", "src/deep": root + "/docs/deep", "away": "/etc"} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "docs/a.md"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w := workspace{root: root}
	for line, want := range map[string][]string{
		"cat docs/a.md":              {"docs/a.md"},
		"cat ./docs//a.md":           {"docs/a.md"},
		"cat src/../docs/a.md":       {"docs/a.md"},
		"cat " + root + "/docs/a.md": {"docs/a.md"},
		"cat src/link/a.md":          {"src/link/a.md", "docs/a.md"},
		"cat src/deep/../a.md":       {"src/a.md", "docs/a.md"}, // .. is that of where the link leads
		"cat docs/new.md":            {"docs/new.md"},
		"cat /etc/passwd ../x":       {"/etc/passwd", filepath.Join(filepath.Dir(root), "x")},
		"touch src/link/new/er.md":   {"src/link/new/er.md", "docs/new/er.md"},
		"ls away":                    {"away", "/etc"},
		"head -n 3 'docs/a.md'":      {"3", "docs/a.md"},
		"dd if=docs/a.md of=out":     {"docs/a.md", "if=docs/a.md", "out", "of=out"},
		"tail --lines=5 docs/a.md":   {"5", "docs/a.md"},
		"cat <docs/a.md >'out put'":  {"docs/a.md", "out put"},
		"cat x >>./docs/a.md 2>&1":   {"docs/a.md", "1", "x"},
		"uptime":                     nil,
	} {
		c := command.Analyze(line)
		if diff := cmp.Diff(want, w.paths(operands(line, &c)...)); diff != "" {
			t.Errorf("%s: %s", line, diff)
		}
	}
	for path, want := range map[string][]string{"docs/a.md": {"docs/a.md"}, "src/link/a.md": {"src/link/a.md", "docs/a.md"}} {
		got := ReadFile(root).Classify(map[string]any{"path": path})
		if diff := cmp.Diff(want, got.Paths); diff != "" || got.Action != "use" {
			t.Errorf("%s: %s, action %s", path, diff, got.Action)
		}
	}
}
