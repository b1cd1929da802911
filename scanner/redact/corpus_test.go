package redact

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/svc-gateway/svc/internal/corpus"
)

// samples reads a file of the folder that SVC_CORPORA names.
func samples(t *testing.T, name string) []corpus.Sample {
	t.Helper()
	dir := os.Getenv("SVC_CORPORA")
	if dir == "" {
		t.Skip("SVC_CORPORA is not set")
	}
	list, err := corpus.Read(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestCorpusSecrets(t *testing.T) {
	exact := 0
	list := samples(t, "secrets.jsonl")
	for _, s := range list {
		want, got := s.Redacted(Mark), Text(s.Text)
		if got == want {
			exact++
		} else {
			t.Logf("got %q, want %q", got, want)
		}
		if again := Text(got); again != got {
			t.Errorf("%q becomes %q, and again %q", s.Text, got, again)
		}
	}
	t.Logf("of %d lines %d lose their secrets and nothing else", len(list), exact)
	if exact*100 < 98*len(list) {
		t.Error("there were more")
	}
}

func TestCorpusBenign(t *testing.T) {
	changed := 0
	list := samples(t, "benign.jsonl")
	for _, s := range list {
		if Text(s.Text) != s.Text {
			changed++
		}
	}
	t.Logf("of %d benign texts %d are redacted", len(list), changed)
	if changed*200 > len(list) {
		t.Errorf("too many false alarms")
	}
}
