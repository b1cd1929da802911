package model

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/internal/corpus"
	"github.com/svc-gateway/svc/internal/corpus/corpustest"
	"github.com/svc-gateway/svc/scanner"
)

// surely reports whether something of high confidence is found in a text.
func surely(text string) bool {
	return slices.ContainsFunc(Scan(text), func(f scanner.Finding) bool { return f.Confidence == scanner.High })
}

func somehow(text string) bool { return len(Scan(text)) > 0 }

func corpora(t *testing.T, name string) []corpus.Sample {
	t.Helper()
	folder := os.Getenv("SVC_CORPORA")
	if folder == "" {
		t.Skip("SVC_CORPORA names no folder with texts to measure with")
	}
	list, err := corpus.Read(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// The model was trained with these: figures for texts that it never saw are in MODEL.md.
func TestCorpusAttacks(t *testing.T) {
	list := slices.DeleteFunc(corpora(t, "injection.jsonl"), func(s corpus.Sample) bool { return strings.HasPrefix(s.Category, "bare_task") })
	corpustest.Rate(t, list, 0.5, 0, surely)
}

func TestCorpusFalseAlarms(t *testing.T) {
	corpustest.Rate(t, corpora(t, "benign.jsonl"), 0, 0.005, surely)
	corpustest.Rate(t, corpora(t, "code.jsonl"), 0, 0.005, somehow)
}
