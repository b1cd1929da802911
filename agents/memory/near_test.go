package memory_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents/memory"
)

// meanings is an embedder to which texts with one of its words mean the same.
type meanings struct {
	words []string
	err   error
	asked []string
}

func (*meanings) Name() string { return "meanings" }

func (m *meanings) Embed(_ context.Context, texts []string) ([][]float32, error) {
	m.asked = append(m.asked, texts...)
	if m.err != nil {
		return nil, m.err
	}
	all := make([][]float32, len(texts))
	for i, text := range texts {
		all[i] = []float32{0, 1}
		for _, w := range m.words {
			if strings.Contains(text, w) {
				all[i] = []float32{1, 0}
			}
		}
	}
	return all, nil
}

// What means the same is found in other words, and what is found both ways comes first. Without the server
// memories are found by their words.
func TestNear(t *testing.T) {
	m := &meanings{words: []string{"backup", "Sicherung", "vaulted"}}
	f := newFixture(t, func(c *memory.Config) { c.Embedder = m })
	f.said(ada, "the Sicherung of db01 runs at night")
	f.said(ada, "db01 is vaulted")
	f.said(ada, "db01 is in Porto")
	f.said(ada, "my editor is vim")
	f.said(bob, "the backup of bob")
	if diff := cmp.Diff([]string{"db01 is vaulted", "the Sicherung of db01 runs at night"}, notes(t, f.recall(ada, "core", "when is the backup?"))); diff != "" {
		t.Errorf("in other words (-want +got):\n%s", diff)
	}
	got := notes(t, f.recall(ada, "core", "the backup of db01, password: hunter2-and-more"))
	if len(got) != 3 || got[2] != "db01 is in Porto" {
		t.Errorf("got %q, want what is found both ways first", got)
	}
	if last := m.asked[len(m.asked)-1]; strings.Contains(last, "hunter2") {
		t.Errorf("the server was sent %q", last)
	}
	m.err = errors.New("down")
	for range 3 {
		if diff := cmp.Diff([]string{"my editor is vim"}, notes(t, f.recall(ada, "core", "which editor?"))); diff != "" {
			t.Errorf("without the server (-want +got):\n%s", diff)
		}
	}
	if n := f.warns.FilterMessageSnippet("embeddings server failed").Len(); n != 1 {
		t.Errorf("%d warnings, want 1: it is left alone for a while", n)
	}
	f.said(ada, "the backup disk is new") // kept all the same
	m.err = nil
	f.now = f.now.Add(time.Minute)
	f.said(ada, "my shell is zsh") // and embedded with the next one
	if got := notes(t, f.recall(ada, "core", "Sicherung?")); len(got) != 3 {
		t.Errorf("got %q, want three", got)
	}
}
