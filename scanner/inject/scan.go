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

// maxDepth is how many disguises in disguises are taken off.
const maxDepth = 8

// Scan returns what looks like an injection in the text, by its place; nil when there is
// nothing. The text is read as it is and, where its bytes give reason to, in the views that undo a
// disguise: see the View constants. A text of more than 256 findings is cut off there. One that would
// take much more work than its length calls for is scanned in part, and a finding of the category
// PartlyScanned says so. Scan is safe for concurrent use.
func Scan(text string) []scanner.Finding { return scanFrom(text, 0) }

// scanFrom is Scan for a text that was scanned before up to a place, and whose words were tried as
// it is: only disguises that go on behind that place are taken off.
func scanFrom(text string, from int) []scanner.Finding {
	s := scans.Get().(*scan)
	defer scans.Put(s)
	s.reset(text)
	s.from = from
	s.look(view{name: scanner.ViewText, text: text})
	if s.partly {
		s.record(partlyScanned(0, len(text)))
	}
	if len(s.found) == 0 {
		return nil
	}
	return s.result()
}

// partlyScanned is the finding that says that there was more to be done for a text than a scan does.
// Its confidence is high: nobody knows what the rest of the text hides.
func partlyScanned(start, end int) scanner.Finding {
	return scanner.Finding{Category: scanner.PartlyScanned, Rule: "work_limit", Confidence: scanner.High, Start: start, End: end, View: scanner.ViewText}
}

// scans are kept for their memory.
var scans = sync.Pool{New: func() any { return new(scan) }}

// scan is one call of Scan.
type scan struct {
	text   string // the original
	from   int    // what stands before was scanned
	found  []scanner.Finding
	low    int      // of found that are of low confidence
	levels []*level // by the depth of views in views
	work   int      // that may still be done, see match
	left   int      // bytes that views may still have, so that disguises in disguises end
	partly bool     // there was no room for some of them
}

// level is the memory for one view at a time.
type level struct {
	view     view
	draft    draft // of it
	bench    bench
	words    []hit
	wide     []hit // words beyond ASCII
	marks    marks
	ciphered spans
	mirrored spans
	plain    spans // where a view with plain letters was made
	pieced   spans // words of one length that make others
	pieces   []piece
}

func (s *scan) reset(text string) {
	s.text, s.found, s.low, s.partly = text, s.found[:0], 0, false
	s.left = 13*len(text) + 1<<16
	s.work = workFor(len(text))
}

// workFor is how much may be done for a text of n bytes: many times what any text needs that was not
// made to cost much.
func workFor(n int) int { return 32*n + 1<<16 }

// level returns the memory for views of a depth.
func (s *scan) level(depth int) *level {
	for len(s.levels) <= depth {
		s.levels = append(s.levels, new(level))
	}
	return s.levels[depth]
}

// draft begins a draft for a part of a view.
func (s *scan) draft(v *view, p span) *draft {
	d := &s.level(v.depth + 1).draft
	d.begin(p.start)
	return d
}

// known reports whether a part of a view that ends so was looked at before.
func (s *scan) known(v *view, end int) bool { return v.parent == nil && end <= s.from }

// afford reports whether there is room for a view of n bytes.
func (s *scan) afford(n int) bool {
	if s.left -= n + 64; s.left < 0 {
		s.partly = true
		return false
	}
	return n > 0
}

// look finds what is in a view, and looks at the views of it that are called for.
func (s *scan) look(v view) {
	if v.depth > maxDepth || !s.afford(len(v.text)) {
		s.partly = s.partly || v.depth > maxDepth
		return
	}
	l := s.level(v.depth)
	l.view = v
	l.bench.chart(v.text, 0)
	l.marks.reset()
	l.marks.inspect(v.text, &l.bench.planes)
	if v.parent == nil {
		s.found = scanInvisible(s.found, v.text, &l.bench.planes, l.marks.wide)
		if l.marks.traits&(wideBytes|punycode) != 0 {
			s.found = scanHomographs(s.found, v.text, &l.bench.planes, l.marks.wide)
		}
		for _, f := range s.found {
			s.count(f, 1)
		}
	}
	l.read()
	if v.parent != nil || s.from == 0 {
		s.phrases(l)
	}
	if l.marks.traits != 0 {
		s.unfold(l)
	}
}

// read finds the words of a view, and those that say that it is written in another way.
func (l *level) read() {
	v := &l.view
	if v.leet {
		l.words = leetWords().hits(l.words[:0], v.text)
	} else {
		l.words = plainFinder().hits(l.words[:0], v.text, &l.bench.planes)
	}
	l.ciphered, l.mirrored = l.ciphered[:0], l.mirrored[:0]
	for _, w := range l.words {
		switch disguiseOf(w) {
		case ciphered:
			l.ciphered.add(w.start, w.end, context)
			l.marks.traits |= ciphered
		case mirrored:
			l.mirrored.add(w.start, w.end, context)
			l.marks.traits |= mirrored
		}
	}
	l.wide = l.wide[:0]
	for _, p := range l.marks.wide {
		p = p.in(v.text)
		l.wide, _ = wideWords().read(l.wide, v.text, wideWords().start, p.start, p.end)
	}
	l.words = merged(l.words, l.wide)
}

// merged adds words to others, both in the order of their ends.
func merged(words, more []hit) []hit {
	n, k := len(words)-1, len(more)-1
	words = append(words, more...)
	for i := len(words) - 1; k >= 0; i-- {
		if n >= 0 && words[n].end > more[k].end {
			words[i] = words[n]
			n--
		} else {
			words[i] = more[k]
			k--
		}
	}
	return words
}

// phrases tries the threats on the words of a view, whose layout is begun.
func (s *scan) phrases(l *level) {
	if len(l.words) == 0 {
		return
	}
	v := &l.view
	match(v, &l.bench, l.words, 0, &s.work, func(t *threat, start, end, word int) {
		f := v.finding(t, l.words, word, start, end)
		f.Start, f.End = v.original(start, end)
		s.record(f)
	})
	s.partly = s.partly || s.work < 0
}

// finding makes a finding of a threat that is there from start to end of a view, which is the end of
// a word.
func (v *view) finding(t *threat, words []hit, word, start, end int) scanner.Finding {
	f := scanner.Finding{Category: t.category, Rule: t.rule, Confidence: t.confidence, Start: start, End: end, View: v.name}
	if f.Confidence == scanner.High && !v.hidden && discussed(v.text, words, word, start, end) {
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

// count counts a finding that comes or goes.
func (s *scan) count(f scanner.Finding, n int) {
	if f.Confidence == scanner.Low {
		s.low += n
	}
}

// record takes a finding unless the same was found at its place.
func (s *scan) record(f scanner.Finding) {
	full := len(s.found) >= maxFindings
	if full && f.Category == scanner.PartlyScanned && s.low == 0 {
		s.found[len(s.found)-1] = f
		return
	}
	if full && (f.Confidence == scanner.Low || s.low == 0) {
		return
	}
	for i := len(s.found) - 1; i >= 0; i-- {
		if o := &s.found[i]; o.Rule == f.Rule && o.Confidence == f.Confidence && o.Start < f.End && f.Start < o.End {
			if o.View == f.View {
				o.Start, o.End = min(o.Start, f.Start), max(o.End, f.End)
			}
			return
		}
	}
	if !full {
		s.found = append(s.found, f)
		s.count(f, 1)
		return
	}
	for i := range s.found { // harmless ones in great number must not hide it
		if s.found[i].Confidence == scanner.Low {
			s.count(s.found[i], -1)
			s.found[i] = f
			return
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
