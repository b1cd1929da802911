package inject

import (
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

func TestCorpusInjections(t *testing.T) {
	corpustest.Each(t, "injection.jsonl", func(t *testing.T, own bool, list []corpus.Sample) {
		// A task and nothing else cannot be told from an honest one.
		list = slices.DeleteFunc(list, func(s corpus.Sample) bool { return strings.HasPrefix(s.Category, "bare_task") })
		recall := 0.55 // of what others collected
		if own {
			recall = 0.95
		}
		corpustest.Rate(t, list, recall, 0, surely)
	})
}

func TestCorpusFalseAlarms(t *testing.T) {
	corpustest.Each(t, "benign.jsonl", func(t *testing.T, _ bool, list []corpus.Sample) {
		corpustest.Rate(t, list, 0, 0.005, surely)
	})
}

func TestCorpusHomographs(t *testing.T) {
	corpustest.Each(t, "homograph.jsonl", func(t *testing.T, _ bool, list []corpus.Sample) {
		corpustest.Rate(t, list, 1, 0, func(text string) bool {
			return slices.ContainsFunc(Scan(text), func(f scanner.Finding) bool { return f.Category == scanner.URLHomograph })
		})
	})
}
