package redact

import (
	"testing"

	"github.com/svc-gateway/svc/internal/corpus"
	"github.com/svc-gateway/svc/internal/corpus/corpustest"
)

// A text loses its secrets and nothing else, and a second pass changes nothing.
func TestCorpusSecrets(t *testing.T) {
	corpustest.Each(t, "secrets.jsonl", func(t *testing.T, _ bool, list []corpus.Sample) {
		exact := 0
		for _, s := range list {
			want, got := s.Redacted(Mark), Text(s.Text)
			if got == want {
				exact++
			} else {
				t.Logf("%s: got %q, want %q", s.ID, got, want)
			}
			if again := Text(got); again != got {
				t.Errorf("%s: %q becomes %q, and again %q", s.ID, s.Text, got, again)
			}
		}
		t.Logf("of %d texts %d lose their secrets and nothing else", len(list), exact)
		if exact*100 < 98*len(list) {
			t.Error("there were more")
		}
	})
}

func TestCorpusFalseAlarms(t *testing.T) {
	corpustest.Each(t, "benign.jsonl", func(t *testing.T, _ bool, list []corpus.Sample) {
		corpustest.Rate(t, list, 0, 0.005, func(text string) bool { return Text(text) != text })
	})
}
