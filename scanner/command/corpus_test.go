package command

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/svc-gateway/svc/internal/corpus"
)

// labelled reads a file of the folder that SVC_CORPORA names.
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

func TestCorpusCommands(t *testing.T) {
	list := samples(t, "commands.jsonl")
	rate(t, list, func(text string) bool { return Analyze(text).Class == Dangerous }, 0.97, 0.03)
}

func TestCorpusCode(t *testing.T) {
	found := func(text string) bool { return len(ScanCode(text, AnyLanguage)) > 0 }
	rate(t, samples(t, "code_prescan.jsonl"), found, 0.95, 0.03)
	rate(t, samples(t, "code.jsonl"), found, 0, 0)
}

// rate fails when too few of the samples with label 1 are found, or too many of the others.
func rate(t *testing.T, list []corpus.Sample, found func(string) bool, recall, alarms float64) {
	t.Helper()
	var all, hits [2]float64
	for _, s := range list {
		all[s.Label]++
		if found(s.Text) {
			hits[s.Label]++
		}
	}
	t.Logf("found %.0f of %.0f, and %.0f of %.0f that should not be", hits[1], all[1], hits[0], all[0])
	if hits[1] < recall*all[1] || hits[0] > alarms*all[0] {
		t.Error("there were more found, or fewer false alarms")
	}
}
