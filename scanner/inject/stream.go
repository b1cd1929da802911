package inject

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/internal/text"
)

const (
	// streamBack is how much of the text before a piece is looked at again with it, in bytes.
	streamBack = 2048
	// streamLag is how much text that may wear a disguise is gathered before it is looked at.
	streamLag = 256
)

// Stream scans a text that comes in pieces, such as the answer of a model. What a piece completes
// is found with it, unless it is in disguise: then when a lag of some text has come after it, or at
// the end. Findings whose parts are more than 2 KiB apart are not made, nor more than 256 in about
// 4 KiB or in one piece. A Stream belongs to one goroutine at a time.
//
// The words of the lexicon are found in one pass, whose state is carried from piece to piece, and
// each is tried with those before it. Only text that may wear a disguise is looked at again.
type Stream struct {
	lag    int
	window strings.Builder // the end of the text
	offset int             // of the window in the text
	at     int             // how much of the window was read for words
	plain  uint32          // state of the words in ASCII
	wide   uint32          // of the others, read once there may be some
	isWide bool
	words  []hit // that were read, in the window
	tried  int   // how many of them need not be tried again
	marks  traits
	memory marks
	done   int // end of what was looked at for disguises, in the text
	told   []scanner.Finding
}

// NewStream returns a Stream at the beginning of a text, with a lag of 256 bytes.
func NewStream() *Stream { return NewLaggingStream(streamLag) }

// NewLaggingStream returns a Stream with a lag of so many bytes, at most 2048. The longer it is,
// the less a text costs that may wear a disguise.
func NewLaggingStream(lag int) *Stream { return &Stream{lag: lag, plain: plainWords().start} }

// Write takes the next piece and returns what was found by now. Places are those in the text as
// a whole.
func (s *Stream) Write(piece string) []scanner.Finding {
	s.window.WriteString(piece)
	s.inspect(piece)
	found := s.read(false)
	fresh := s.offset + s.window.Len() - s.done
	if s.marks&^punycode != 0 && fresh >= s.lag || fresh >= streamBack {
		found = append(found, s.unmask()...)
		s.slide()
	}
	return found
}

// Close ends the text and returns the rest of what was found.
func (s *Stream) Close() []scanner.Finding {
	found := append(s.read(true), s.unmask()...)
	*s = Stream{lag: s.lag, plain: plainWords().start}
	return found
}

// read reads the words that have come and returns what they mean together. A word at the end
// counts as if the text ended there; it is read again with the next piece.
func (s *Stream) read(eof bool) []scanner.Finding {
	window := s.window.String()
	if !s.isWide && s.marks&wideBytes != 0 {
		s.isWide, s.wide = true, wideWords().start
		s.words, s.at, s.plain, s.tried = s.words[:0], 0, plainWords().start, 0
	}
	certain := len(window)
	if !eof {
		certain = max(s.at, certain-utf8.UTFMax)
	}
	known := len(s.words)
	s.words, s.plain, s.wide = s.readWords(s.words, window, s.at, certain)
	s.at = certain
	for _, w := range s.words[known:] {
		s.marks |= disguiseOf(w)
	}
	all, _, _ := s.readWords(s.words, window, certain, len(window))
	v := view{name: scanner.ViewText, text: window, open: !eof}
	work := workFor(len(window))
	var found []scanner.Finding
	b := benches.Get().(*bench)
	defer benches.Put(b)
	b.begin()
	tried := match(&v, b, all, s.tried, &work, func(t *threat, start, end, word int) {
		f := v.finding(t, all, word, start, end)
		f.Excerpt = text.Excerpt(window[start:end])
		found = s.tell(found, f)
	})
	if work < 0 {
		found = s.tell(found, partlyScanned(0, len(window)))
	}
	s.tried = min(tried, len(s.words))
	return found
}

// readWords appends the words that end between two places of the text, and returns the states
// there.
func (s *Stream) readWords(list []hit, text string, from, to int) (words []hit, plain, wide uint32) {
	known := len(list)
	list, plain = plainWords().read(list, text, s.plain, from, to)
	if !s.isWide {
		return list, plain, 0
	}
	list, wide = wideWords().read(list, text, s.wide, from, to)
	slices.SortStableFunc(list[known:], func(a, b hit) int { return cmp.Compare(a.end, b.end) })
	return list, plain, wide
}

// benches are kept for their memory, which is too much for each of many streams that wait.
var benches = sync.Pool{New: func() any { return new(bench) }}

// inspect notes the traits of a text.
func (s *Stream) inspect(text string) {
	s.memory.reset()
	b := benches.Get().(*bench)
	defer benches.Put(b)
	b.chart(text, 0)
	s.memory.inspect(text, &b.planes)
	s.marks |= s.memory.traits
}

// unmask looks for disguises in what has come since it last did, and in what stands before.
func (s *Stream) unmask() (found []scanner.Finding) {
	from := max(0, s.done-s.offset-streamBack)
	known := max(0, s.done-s.offset-from-utf8.UTFMax)
	text := s.window.String()[from:]
	s.done = s.offset + s.window.Len()
	if s.inspect(text); s.marks == 0 {
		return nil
	}
	s.marks = 0
	for _, f := range scanFrom(text, known) {
		f.Start, f.End = f.Start+from, f.End+from
		found = s.tell(found, f)
	}
	return found
}

// tell appends a finding in the window with its place in the text, unless it was told before.
func (s *Stream) tell(found []scanner.Finding, f scanner.Finding) []scanner.Finding {
	f.Start, f.End = f.Start+s.offset, f.End+s.offset
	if slices.ContainsFunc(s.told, func(o scanner.Finding) bool {
		return o.Rule == f.Rule && o.Confidence == f.Confidence && o.Start < f.End && f.Start < o.End
	}) {
		return found
	}
	if len(s.told) == maxFindings { // harmless ones in great number must not hide another
		i := slices.IndexFunc(s.told, func(o scanner.Finding) bool { return o.Confidence == scanner.Low })
		if f.Confidence == scanner.Low || i < 0 {
			return found
		}
		s.told = slices.Delete(s.told, i, i+1)
	}
	s.told = append(s.told, f)
	return append(found, f)
}

// slide forgets the text before the last 2 KiB, once it is as much again.
func (s *Stream) slide() {
	text := s.window.String()
	over := len(text) - streamBack
	if over < streamBack {
		return
	}
	for range utf8.UTFMax - 1 {
		if !utf8.RuneStart(text[over]) {
			over++
		}
	}
	s.window = strings.Builder{}
	s.window.Grow(3 * streamBack)
	s.window.WriteString(text[over:])
	s.offset += over
	s.at -= over
	gone := func(w hit) bool { return w.start < over } // a phrase may end behind words that it holds
	for _, w := range s.words[:s.tried] {
		if gone(w) {
			s.tried--
		}
	}
	s.words = slices.DeleteFunc(s.words, gone)
	for i := range s.words {
		s.words[i].start -= over
		s.words[i].end -= over
	}
	s.told = slices.DeleteFunc(s.told, func(f scanner.Finding) bool { return f.End <= s.offset })
}
