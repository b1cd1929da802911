package main

import (
	"path/filepath"
	"strings"

	"github.com/svc-gateway/svc/internal/corpus"
)

// bare reports whether the text is a task and nothing else, which no text scanner can tell from
// an honest one.
func bare(s corpus.Sample) bool { return strings.HasPrefix(s.Category, "bare_task") }

// samples reads a file, the half that is asked for.
func (m *measure) samples(name string) ([]corpus.Sample, error) {
	all, err := corpus.Read(filepath.Join(m.dir, name))
	if err != nil {
		return nil, err
	}
	var list []corpus.Sample
	for _, s := range all {
		if m.half == "" || s.Seen() == (m.half == "seen") {
			list = append(list, s)
		}
	}
	return list, nil
}
