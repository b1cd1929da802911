package tools

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/policy/provenance"
)

// What a command line reaches for, by type. What cannot be told is a target that nobody can name.
func TestCommandTargets(t *testing.T) {
	root := t.TempDir()
	if err := os.Symlink("/etc", filepath.Join(root, "away")); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string][]string{
		"rm docs/a.md":                    {"path docs/a.md"},
		"cp docs/../docs/a.md /etc/x":     {"path docs/a.md", "path /etc/x"},
		"rm " + root + "/docs/a.md":       {"path docs/a.md"},
		"rm away/passwd":                  {"path away/passwd", "path /etc/passwd"},
		"touch a >b":                      {"path b", "path a"},
		"dd if=a of=b":                    {"path a", "path if=a", "path b", "path of=b"},
		"sort -o/etc/x a":                 {"path /etc/x", "path a"},
		"tar --file=b.tar -x":             {"path b.tar"},
		"curl https://example.com/?a=b":   {"url https://example.com/?a=b"},
		"curl --url=https://example.com/": {"url https://example.com/"},
		"ping -c 1 example.com":           {"host 1", "host example.com"},
		"ssh bob@example.com":             {"recipient bob@example.com"},
		"systemctl restart nginx":         {"path restart", "path nginx"},
		"rm $X":                           {"unknown rm", "path $X"},
		"cat list | xargs rm":             {"path list", "unknown rm", "path {}"},
		"rm 'a":                           {"unknown "},
		"reboot":                          nil,
	} {
		var got []string
		for _, g := range RunCommand(root, nil).Classify(map[string]any{"command": line}).Targets {
			got = append(got, string(g.Kind)+" "+g.Value)
			if g.Argument != "command" || g.Source != "" {
				t.Errorf("%s: got %+v", line, g)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", line, diff)
		}
	}
}

// A file in the project is the same by its absolute path.
func TestWriteTargets(t *testing.T) {
	root := t.TempDir()
	w := NewWriter(root, nil)
	for _, tool := range []agents.Tool{w.WriteFile(), w.EditFile()} {
		want := []provenance.Target{{Argument: "path", Kind: provenance.Path, Value: "docs/a.md", Same: []string{filepath.Join(root, "docs/a.md")}}}
		if diff := cmp.Diff(want, tool.Classify(map[string]any{"path": "./docs/a.md"}).Targets); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tool.Name, diff)
		}
	}
}

func TestReadFileTargets(t *testing.T) {
	root := t.TempDir()
	want := []provenance.Target{{Argument: "path", Kind: provenance.Path, Value: "docs/a.md", Same: []string{filepath.Join(root, "docs/a.md")}}}
	if diff := cmp.Diff(want, ReadFile(root).Classify(map[string]any{"path": "./docs/a.md"}).Targets); diff != "" {
		t.Error(diff)
	}
}
