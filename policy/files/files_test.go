package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.yaml", "a.yaml", "a_test.yaml", "a.yaml~", ".a.yaml", "notes.md"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("# "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range all {
		got = append(got, filepath.Base(s.Name)+" "+string(s.Text))
	}
	if diff := cmp.Diff([]string{"a.yaml # a.yaml", "b.yaml # b.yaml"}, got); diff != "" {
		t.Error(diff)
	}
	if all, err := Read(filepath.Join(dir, "none")); err != nil || all != nil {
		t.Errorf("no folder: got %v, %v", all, err)
	}
	if err := os.Mkdir(filepath.Join(dir, "c.yaml"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), "is not a file") {
		t.Errorf("a folder with the name of a rule file: got %v", err)
	}
	for _, name := range []string{"a.yml", "a.YAML", "a.Yml"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), "end in .yaml") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
