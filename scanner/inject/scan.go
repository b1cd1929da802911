package inject

import (
	"cmp"
	"slices"
	"sync"

	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/internal/text"
)

// maxFindings is how many findings of one text are returned.
const maxFindings = 256

// Scan returns what looks like an injection in the text, by its place; nil when there is
// nothing. The text is read as it is and, where its bytes give reason to, in the views that undo a
// disguise: see the View constants. A text of more than 256 findings is cut off there. Scan is
// safe for concurrent use.
func Scan(text string) []scanner.Finding {
	s := scans.Get().(*scan)
	defer scans.Put(s)
	s.reset(text)
	s.look(view{name: scanner.ViewText, text: text})
	for i := 0; i < len(s.queue); i++ {
		s.look(s.queue[i])
	}
	clear(s.queue)
	if len(s.found) == 0 {
		return nil
	}
	return s.result()
}

// scans are kept for their memory.
var scans = sync.Pool{New: func() any { return new(scan) }}

// scan is one call of Scan.
type scan struct {
	text  string // the original
	found []scanner.Finding
	words []hit
	queue []view // to look at yet
	left  int    // bytes that views may still have, so that disguises in disguises end
}

func (s *scan) reset(text string) {
	s.text, s.found, s.queue = text, s.found[:0], s.queue[:0]
	s.left = 12*len(text) + 4096
}

// look finds what is in a view, and makes the views of it that are called for.
func (s *scan) look(v view) {
	marks := inspect(v.text)
	if v.name == scanner.ViewText && marks&wideBytes != 0 {
		s.found = scanInvisible(s.found, v.text)
	}
	if v.name == scanner.ViewText && marks&(wideBytes|punycode) != 0 {
		s.found = scanHomographs(s.found, v.text)
	}
	s.words = v.words(s.words[:0], marks&wideBytes != 0)
	if marks |= s.phrases(v); marks != 0 {
		s.unfold(v, marks)
	}
}

// phrases tries the threats on the words of a view. It returns what the words say of disguises.
func (s *scan) phrases(v view) (marks traits) {
	for _, w := range s.words {
		marks |= disguiseOf(w)
	}
	match(&v, s.words, 0, func(t *threat, start, end int) {
		f := v.finding(t, s.words, start, end)
		f.Start, f.End = v.original(start, end)
		s.record(f)
	})
	return marks
}

// finding makes a finding of a threat that is there from start to end of a view.
func (v *view) finding(t *threat, words []hit, start, end int) scanner.Finding {
	f := scanner.Finding{Category: t.category, Rule: t.rule, Confidence: t.confidence, Start: start, End: end, View: v.name}
	if f.Confidence == scanner.High && !v.hidden && discussed(v.text, words, start, end) {
		f.Confidence = scanner.Low
	}
	return f
}

// disguiseOf returns the disguise in which a word of the lexicon was found.
func disguiseOf(w hit) traits {
	switch {
	case w.means.meets(&cipherWords):
		return ciphered
	case w.means.meets(&mirrorWords):
		return mirrored
	}
	return 0
}

// record takes a finding unless the same was found at its place.
func (s *scan) record(f scanner.Finding) {
	for i := len(s.found) - 1; i >= 0; i-- {
		if o := &s.found[i]; o.Rule == f.Rule && o.Confidence == f.Confidence && o.Start < f.End && f.Start < o.End {
			if o.View == f.View {
				o.Start, o.End = min(o.Start, f.Start), max(o.End, f.End)
			}
			return
		}
	}
	if len(s.found) < maxFindings {
		s.found = append(s.found, f)
		return
	}
	if f.Confidence == scanner.High { // harmless ones in great number must not hide it
		for i := range s.found {
			if s.found[i].Confidence == scanner.Low {
				s.found[i] = f
				return
			}
		}
	}
}

// result is a copy of the findings in their order, with excerpts.
func (s *scan) result() []scanner.Finding {
	found := slices.Clone(s.found)
	for i, f := range found {
		found[i].Excerpt = text.Excerpt(s.text[f.Start:f.End])
	}
	slices.SortStableFunc(found, func(a, b scanner.Finding) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
	})
	return found
}
