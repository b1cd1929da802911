package model

import (
	"math"
	"sync"

	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/internal/text"
)

const (
	// Rule is the rule of the findings.
	Rule = "model"

	lag     = 16   // tokens after the first suspicious window until the worst of them is told
	back    = 1024 // bytes before the place that is read of which an excerpt is made
	maxEach = 128  // findings of one text, of each confidence
)

// Stream judges a text that comes in pieces. What is found is the same however the text is cut. A
// finding is told at the latest sixteen words after the window that made it, or at the end. A text of
// fewer than 32 words is judged at its end. A Stream belongs to one goroutine at a time.
type Stream struct {
	weights *Weights
	reader  reader

	before sequence
	cache  *cache

	ring  [Window]slot
	count int   // tokens so far
	sum   int32 // of the weights of those in the ring
	last  int   // end of the last one in the text

	best  scanner.Finding // of the windows that are suspicious without a break
	top   int32           // its sum
	since int             // windows since the first of them; 0: there is none
	end   int             // token behind it

	told    scanner.Confidence // what was told last
	until   int                // token behind its window; what overlaps it is the same
	running bool               // all windows since then were suspicious
	each    map[scanner.Confidence]int

	found []scanner.Finding
	base  int // where the piece begins that is read
	piece string
	tail  [back + 8]byte // what stands before it
	tails int
}

// slot is a token of the window.
type slot struct {
	start int
	word  uint32
	sum   int32
}

// NewStream returns a Stream at the beginning of a text, for the model that comes with the program.
func NewStream() *Stream { return Default().NewStream() }

// NewStream returns a Stream at the beginning of a text.
func (w *Weights) NewStream() *Stream {
	s := &Stream{weights: w, cache: new(cache)}
	s.reader.give = s.take
	return s
}

// Scan returns what looks like an injection in a text, by its place; nil when there is nothing. It is
// safe for concurrent use.
func Scan(text string) []scanner.Finding {
	s := streams.Get().(*Stream)
	defer streams.Put(s)
	return s.whole(text)
}

// streams are kept for their memory.
var streams = sync.Pool{New: func() any { return NewStream() }}

// Scan is the same as the function, with these weights.
func (w *Weights) Scan(text string) []scanner.Finding { return w.NewStream().whole(text) }

// Write takes the next piece and returns what was found by now. Places are those in the text as a
// whole.
func (s *Stream) Write(piece string) []scanner.Finding {
	s.piece = piece
	s.reader.read(piece)
	s.keep(piece)
	return s.tell()
}

// Close ends the text and returns the rest of what was found. The Stream is at the beginning of
// another text then.
func (s *Stream) Close() []scanner.Finding {
	s.finish()
	found := s.tell()
	s.reset()
	return found
}

// whole scans a text at the beginning of which the stream is.
func (s *Stream) whole(text string) []scanner.Finding {
	s.piece = text
	s.reader.read(text)
	return s.Close()
}

func (s *Stream) finish() {
	s.reader.close()
	if Least <= s.count && s.count < Window {
		s.judge(s.count)
	}
	s.flush()
}

func (s *Stream) tell() []scanner.Finding {
	found := s.found
	s.found = nil
	return found
}

func (s *Stream) reset() {
	s.reader.reset()
	s.before = sequence{}
	s.count, s.sum, s.since, s.told, s.until, s.running = 0, 0, 0, "", 0, false
	s.base, s.piece, s.tails = 0, "", 0
	clear(s.each)
}

// keep keeps the end of what was read.
func (s *Stream) keep(piece string) {
	s.base, s.piece = s.base+len(piece), ""
	if over := s.tails + len(piece) - len(s.tail); over > 0 {
		if over >= s.tails {
			piece = piece[over-s.tails:]
			s.tails = 0
		} else {
			s.tails = copy(s.tail[:], s.tail[over:s.tails])
		}
	}
	s.tails += copy(s.tail[s.tails:], piece)
}

// take takes the next token.
func (s *Stream) take(l lexeme) {
	word, sum := s.cache.look(s.weights, &l)
	pair, skip, three := s.before.next(word)
	sum = max(sum+s.weights.of(pair)+s.weights.of(skip)+s.weights.of(three), s.weights.floor)
	for i := max(0, s.count-Repeat); i < s.count && sum > 0; i++ {
		if s.ring[i%Window].word == word {
			sum = 0
		}
	}
	at := &s.ring[s.count%Window]
	if s.count >= Window {
		s.sum -= at.sum
	}
	*at = slot{start: l.start, word: word, sum: sum}
	s.sum += sum
	s.last = l.end
	if s.count++; s.count >= Window {
		s.judge(Window)
	}
}

// judge judges the window of the last n tokens.
func (s *Stream) judge(n int) {
	if s.sum < s.weights.low[n] {
		s.flush()
		s.running = false
		return
	}
	if again := s.running || s.count-n < s.until; again && (s.told == scanner.High || s.told == scanner.Low && s.sum < s.weights.high[n]) {
		return
	}
	if s.since == 0 || s.sum > s.top {
		s.top, s.end = s.sum, s.count
		s.best = s.finding(n)
	}
	if s.since++; s.since >= lag {
		s.flush()
	}
}

// flush tells the worst of the windows that were suspicious without a break.
func (s *Stream) flush() {
	if s.since == 0 {
		return
	}
	s.since, s.told, s.until, s.running = 0, s.best.Confidence, s.end, true
	if s.each == nil {
		s.each = make(map[scanner.Confidence]int)
	}
	if s.each[s.told] < maxEach {
		s.each[s.told]++
		s.found = append(s.found, s.best)
	}
}

// finding is the one that the window of the last n tokens makes.
func (s *Stream) finding(n int) scanner.Finding {
	f := scanner.Finding{Rule: Rule, Category: s.category(n), Confidence: scanner.Low, View: scanner.ViewFolded}
	if s.sum >= s.weights.high[n] {
		f.Confidence = scanner.High
	}
	f.Score = math.Round(1000/(1+math.Exp(-s.weights.margin(s.sum, n)))) / 1000
	f.Start, f.End = s.ring[(s.count-n)%Window].start, s.last
	f.Excerpt = text.Excerpt(s.text(max(f.Start, s.reader.pos-back), f.End))
	return f
}

// category is the one that the words of the last n tokens speak for.
func (s *Stream) category(n int) scanner.Category {
	var sums [len(Categories)]int
	for i := s.count - n; i < s.count; i++ {
		at := int(s.ring[i%Window].word%Words) * len(Categories)
		for c := range sums {
			sums[c] += int(int8(s.weights.words[at+c]))
		}
	}
	best := 0
	for c := range sums {
		if sums[c] > sums[best] {
			best = c
		}
	}
	return Categories[best]
}

// text returns what stands between two places, of which the end of the text was kept.
func (s *Stream) text(start, end int) string {
	if start >= end {
		return ""
	}
	if start >= s.base {
		return s.piece[start-s.base : end-s.base]
	}
	first := s.tail[s.tails-(s.base-start) : s.tails]
	if end <= s.base {
		return string(first[:end-start])
	}
	return string(first) + s.piece[:end-s.base]
}
