package inject

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/svc-gateway/svc/internal/corpus"
	"github.com/svc-gateway/svc/scanner"
)

// texts reads a file of the folder that SVC_CORPORA names.
func texts(t *testing.T, name string) []corpus.Sample {
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

func TestCorpusFalseAlarms(t *testing.T) {
	low, high := 0, 0
	list := texts(t, "benign.jsonl")
	for _, s := range list {
		found := Scan(s.Text)
		if len(found) > 0 {
			low++
		}
		for _, f := range found {
			if f.Confidence == scanner.High {
				high++
				break
			}
		}
	}
	t.Logf("of %d benign texts %d have findings, %d of high confidence", len(list), low, high)
	if high*200 > len(list) {
		t.Errorf("too many false alarms")
	}
}

func TestCorpusHomographs(t *testing.T) {
	for _, s := range texts(t, "homograph.jsonl") {
		found := 0
		for _, f := range Scan(s.Text) {
			if f.Category == scanner.URLHomograph {
				found = 1
			}
		}
		if found != s.Label {
			t.Errorf("%q: got %d, want %d", s.Text, found, s.Label)
		}
	}
}
