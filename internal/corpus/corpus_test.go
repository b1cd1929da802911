package corpus

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jsonl")
	text := `{"id":"1","text":"a secret b","label":1,"category":"c","source":"s","secrets":["secret"]}` + "\n" + `{"id":"2","text":"x"}` + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	want := []Sample{{ID: "1", Text: "a secret b", Label: 1, Category: "c", Source: "s", Secrets: []string{"secret"}}, {ID: "2", Text: "x"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if got, want := got[0].Redacted("*"), "a * b"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := os.WriteFile(path, []byte("{}\n{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err == nil || !strings.Contains(err.Error(), "line 2 of "+path) {
		t.Errorf("got %v", err)
	}
}
