package command

import (
	"testing"

	"github.com/svc-gateway/svc/internal/corpus"
	"github.com/svc-gateway/svc/internal/corpus/corpustest"
)

func TestCorpusCommands(t *testing.T) {
	corpustest.Each(t, "commands.jsonl", func(t *testing.T, _ bool, list []corpus.Sample) {
		corpustest.Rate(t, list, 0.97, 0.03, func(text string) bool { return Analyze(text).Class == Dangerous })
	})
}

func TestCorpusPrograms(t *testing.T) {
	found := func(text string) bool { return len(ScanCode(text, AnyLanguage)) > 0 }
	corpustest.Each(t, "code_prescan.jsonl", func(t *testing.T, _ bool, list []corpus.Sample) { corpustest.Rate(t, list, 0.95, 0.03, found) })
	corpustest.Each(t, "code.jsonl", func(t *testing.T, _ bool, list []corpus.Sample) { corpustest.Rate(t, list, 0, 0, found) })
}
