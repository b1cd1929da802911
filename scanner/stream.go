package scanner

import "slices"

const (
	// streamBack is how much of the text before a piece is looked at again with it, in bytes.
	streamBack = 2048
	// streamLag is how much text that may wear a disguise is gathered before it is looked at.
	streamLag = 256
)

// Stream scans a text that comes in pieces, such as the answer of a model. What a piece completes
// is found with it, unless it is in disguise: then within the next 256 bytes, or at the end.
// Findings whose parts are more than 2 KiB apart are not made. A Stream belongs to one goroutine
// at a time.
//
// Ordinary text costs one pass for the words of the lexicon, whose state is carried from piece to
// piece; only where words stand together that could mean something is the text before looked at
// again.
type Stream struct {
	window []byte
	offset int    // of the window in the text
	state  uint32 // of the words in ASCII
	wide   uint32 // of the others
	done   int    // end of what was scanned, in the text
	recent concepts
	marks  traits
	again  bool // what follows may confirm what was looked at
	told   []Finding
}

// NewStream returns a Stream at the beginning of a text.
func NewStream() *Stream { return &Stream{state: plainWords().start} }

// Write takes the next piece and returns what was found by now. Places are those in the text as
// a whole.
func (s *Stream) Write(piece string) []Finding {
	if len(piece) > streamBack { // scanned as one, with what came before
		s.window = append(s.window, piece...)
		return s.scan()
	}
	marks := inspect(piece)
	s.window, s.marks = append(s.window, piece...), s.marks|marks
	telling := s.words(piece, marks)
	fresh := s.offset + len(s.window) - s.done
	if telling || (s.again || s.marks&^punycode != 0) && fresh >= streamLag || fresh >= streamBack {
		found := s.scan()
		s.again = telling
		return found
	}
	return nil
}

// Close ends the text and returns the rest of what was found.
func (s *Stream) Close() []Finding {
	if s.offset+len(s.window) == s.done {
		return nil
	}
	found := s.scan()
	*s = Stream{state: plainWords().start, window: s.window[:0]}
	return found
}

// words notes the words that end in the piece. It reports whether one of them could complete a
// threat.
func (s *Stream) words(piece string, marks traits) (telling bool) {
	s.state, telling = s.follow(plainWords(), s.state, piece)
	if marks&wideBytes == 0 {
		s.wide = wideStart
		return telling
	}
	wide, also := s.follow(wideWords(), s.wide, piece)
	s.wide = wide
	return telling || also
}

// wideStart is the state at the beginning of a text of a dictionary that is not bounded.
const wideStart = 0

// follow notes the words of one dictionary.
func (s *Stream) follow(d *dictionary, state uint32, piece string) (next uint32, telling bool) {
	p := thePlans()
	for pos := 0; pos < len(piece); {
		var n int
		var ends []uint16
		state, n, ends = d.find(state, piece[pos:])
		pos += n
		for _, i := range ends {
			means := d.patterns[i].means
			s.recent |= means
			telling = telling || p.completes(means, s.recent)
		}
	}
	return state, telling
}

// completes reports whether a word of this meaning could complete a threat for which the others
// have been seen.
func (p *plans) completes(means, seen concepts) bool {
	set := uint64(0)
	means.each(func(bit int) { set |= p.complete[bit] })
	for i := range p.list {
		if set&(1<<i) != 0 && p.list[i].possible(seen) {
			return true
		}
	}
	return false
}

// scan looks at the window and returns what was not told before.
func (s *Stream) scan() []Finding {
	var fresh []Finding
	for _, f := range Scan(string(s.window)) {
		f.Start, f.End = f.Start+s.offset, f.End+s.offset
		if !slices.ContainsFunc(s.told, func(o Finding) bool {
			return o.Rule == f.Rule && o.Confidence == f.Confidence && o.Start < f.End && f.Start < o.End
		}) {
			fresh = append(fresh, f)
		}
	}
	s.done = s.offset + len(s.window)
	if over := len(s.window) - streamBack; over > 0 {
		s.window = s.window[:copy(s.window, s.window[over:])]
		s.offset += over
	}
	s.told = slices.DeleteFunc(append(s.told, fresh...), func(f Finding) bool { return f.End <= s.offset })
	s.recent, s.marks = 0, 0
	for _, w := range wordsOf(plainWords(), nil, string(s.window), true) {
		s.recent |= w.means
	}
	return fresh
}
