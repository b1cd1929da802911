package inject

import (
	"cmp"
	"math/bits"
	"strings"
	"sync"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// defaultGap is how far apart the words of a threat may be, in bytes.
const defaultGap = 24

// reach bounds how many words before a word are tried with it.
const reach = 48

// maxSlots is how many words a threat may have.
const maxSlots = 4

// plan is a threat made ready to be tried.
type plan struct {
	*threat
	slots   []numbers // concepts
	within  int
	ordered bool
}

// plans are the threats as sets: which of them a word of a concept can complete, and in which of
// their slots it can stand.
type plans struct {
	list     []plan
	complete [len(conceptNames)]numbers
	serves   [maxSlots][len(conceptNames)]numbers
	short    [maxSlots]numbers // those that have no such slot
	hidden   numbers           // those for hidden text only
}

// arms are the threats that have a word for a slot, by slot.
type arms [maxSlots]numbers

func (a *arms) unite(o *arms) {
	for s := range a {
		a[s].unite(&o[s])
	}
}

// completedBy returns the threats that a word of these concepts can complete, and those whose slots
// it can stand in.
func (p *plans) completedBy(concepts *numbers) (all numbers, serves arms) {
	for c := range p.complete {
		if !concepts.has(c) {
			continue
		}
		all.unite(&p.complete[c])
		for s := range serves {
			serves[s].unite(&p.serves[s][c])
		}
	}
	return all, serves
}

var thePlans = sync.OnceValue(func() *plans {
	p := &plans{}
	if len(threats) > 64*setWords {
		panic("inject: there are more threats than a set has room for")
	}
	for i := range threats {
		t := &threats[i]
		sep := " + "
		ordered := strings.Contains(t.words, ">")
		if ordered {
			sep = " > "
		}
		entry := plan{threat: t, ordered: ordered, within: cmp.Or(t.within, defaultGap)}
		for slot := range strings.SplitSeq(t.words, sep) {
			entry.slots = append(entry.slots, parseConcepts(slot))
		}
		for s := range maxSlots {
			if s >= len(entry.slots) {
				p.short[s].add(i)
				continue
			}
			for c := range p.complete {
				if !entry.slots[s].has(c) {
					continue
				}
				p.serves[s][c].add(i)
				if !ordered || s == len(entry.slots)-1 {
					p.complete[c].add(i)
				}
			}
		}
		if t.hidden {
			p.hidden.add(i)
		}
		p.list = append(p.list, entry)
	}
	return p
})

// sieve tells which threats have a word for each of their slots not far back: of the last one to
// two times reach words.
type sieve struct {
	recent, before arms
	words          int
}

// take takes the next word, and returns which threats it may complete.
func (s *sieve) take(w *pattern) (ready numbers) {
	if s.words%reach == 0 {
		s.before, s.recent = s.recent, arms{}
	}
	s.words++
	s.recent.unite(&w.serves)
	ready = w.completes
	short := &thePlans().short
	for slot := range s.recent {
		for n := range ready {
			ready[n] &= s.recent[slot][n] | s.before[slot][n] | short[slot][n]
		}
	}
	return ready
}

// matcher tries the threats on the words of a text.
type matcher struct {
	*plans
	view  *view
	words []hit
	ruler ruler
	sieve sieve
	last  [len(conceptNames)]int32 // by concept: the last word that means it, from 1 on
	work  *int                     // that is left
}

// match tries the threats on the words of a text from one of them on, and calls found for each
// that is there, by the end of its last word. It returns the first word that more text may make
// complete a threat which it does not complete yet, the number of words if there is none. What it does
// is taken off work, and it does no more when there is none left.
func match(v *view, words []hit, from int, work *int, found func(t *threat, start, end, word int)) (again int) {
	m := matcher{plans: thePlans(), view: v, words: words, ruler: ruler{text: v.text, words: words}, work: work}
	for i := max(0, from-reach); i < from; i++ {
		m.sieve.take(words[i].pattern)
		m.take(i)
	}
	again = len(words)
	for i := from; i < len(words); i++ {
		w := &words[i]
		for n, set := range m.sieve.take(w.pattern) {
			if !v.hidden {
				set &^= m.hidden[n]
			}
			for ; set != 0; set &= set - 1 {
				entry := &m.list[64*n+bits.TrailingZeros64(set)]
				if len(entry.slots) > 1 && !m.near(entry, i) {
					continue
				}
				if *work < 0 {
					return again
				}
				a := attempt{matcher: &m, plan: entry}
				if start, ok := a.complete(i); ok {
					found(entry.threat, start, w.end, i)
				} else if v.open && a.filled && after(v.text, w.end) == len(v.text) {
					again = min(again, i)
				}
			}
		}
		m.take(i)
	}
	return again
}

// take notes what a word means.
func (m *matcher) take(i int) {
	for n, set := range m.words[i].means {
		for ; set != 0; set &= set - 1 {
			m.last[64*n+bits.TrailingZeros64(set)] = int32(i + 1)
		}
	}
}

// longWord is more than most words and phrases of the lexicon have bytes.
const longWord = 80

// near reports whether there are words for the slots of a threat so near to word i that they may
// complete it. It costs less than to try.
func (m *matcher) near(p *plan, i int) bool {
	m.ruler.measure(i)
	w := &m.words[i]
	for s := range p.slots {
		far := len(p.slots) - 1
		if p.ordered {
			far -= s
		}
		if far == 0 || !p.ordered && w.means.meets(&p.slots[s]) {
			continue
		}
		least := w.from.bytes - int32(far*p.within+(far-1)*longWord)
		if !m.since(&p.slots[s], least, i) {
			return false
		}
	}
	return true
}

// since reports whether a word that may stand in a slot ends behind a place.
func (m *matcher) since(slot *numbers, least int32, i int) bool {
	for n, set := range slot {
		for ; set != 0; set &= set - 1 {
			if k := int(m.last[64*n+bits.TrailingZeros64(set)]) - 1; k >= max(0, i-reach) && m.words[k].to.bytes >= least {
				return true
			}
		}
	}
	return false
}

// attempt tries one threat at one word.
type attempt struct {
	*matcher
	*plan
	placed [maxSlots]int // the word in each slot
	filled bool          // all slots had one
}

// complete reports whether the words before word i make the threat complete, and where it begins.
func (a *attempt) complete(i int) (start int, ok bool) {
	w := &a.words[i]
	for s := len(a.slots) - 1; s >= 0; s-- {
		if !w.means.meets(&a.slots[s]) {
			if a.ordered {
				return 0, false
			}
			continue
		}
		a.placed[s] = i
		if start, ok = a.fill((1<<len(a.slots)-1)&^(1<<s), i); ok || a.ordered {
			return start, ok
		}
	}
	return 0, false
}

// fill looks for words for the slots that are open, to the left of word i.
func (a *attempt) fill(open, i int) (int, bool) {
	start := a.words[i].start
	if open == 0 {
		return start, a.holds(start)
	}
	for k := i - 1; k >= max(0, i-reach); k-- {
		w := &a.words[k]
		if *a.work--; *a.work < 0 {
			break
		}
		if w.end > start {
			continue
		}
		if n, ends := a.ruler.gap(k, i, a.within); n > a.within || ends && !a.across {
			break
		}
		for s := len(a.slots) - 1; s >= 0; s-- {
			if open&(1<<s) == 0 {
				continue
			}
			if w.means.meets(&a.slots[s]) {
				a.placed[s] = k
				if at, ok := a.fill(open&^(1<<s), k); ok {
					return at, true
				}
			}
			if a.ordered {
				break
			}
		}
	}
	return 0, false
}

// holds reports whether the words that were found mean what the threat says.
func (a *attempt) holds(start int) bool {
	a.filled = true
	*a.work -= confirmWork
	last := a.words[a.placed[0]]
	for s := range a.slots {
		if w := a.words[a.placed[s]]; w.end > last.end {
			last = w
		}
	}
	if !a.denied && a.denies() {
		return false
	}
	if a.solo && followed(a.view.text[last.end:]) {
		return false
	}
	if a.confirm == nil && a.unless == nil {
		return true
	}
	text := a.view.text
	around := text[before(text, start):after(text, last.end)]
	return (a.confirm == nil || a.confirm.matches(a.view, around)) && (a.unless == nil || !a.unless.matches(a.view, around))
}

// confirmWork is what it costs to confirm a threat, where looking at a word costs 1.
const confirmWork = 32

// farDenial is how far before a threat a sentence may deny it, in bytes.
const farDenial = 80

// denies reports whether "do not" stands before the first word of a threat: right before, with how
// firm it is between ("do not, under any circumstances, share"), or before others that mean the same
// and of which it is one ("never share, print or repeat"). To refuse to is the same, unless that is
// not to be done.
func (a *attempt) denies() bool {
	text, slot := a.view.text, &a.slots[0]
	at := a.placed[0]
	start := a.words[at].start
	for k := at - 1; k >= max(0, at-reach) && a.words[k].end > start-farDenial; k-- {
		w := &a.words[k]
		if w.end > start {
			continue
		}
		switch between := strings.TrimSpace(text[w.end:start]); {
		case w.means.meets(&notWords) && isFirm(between):
			return true
		case w.means.meets(&refuseWords) && between == "to":
			return !a.deniesWord(k)
		case w.means.meets(slot) && isOr(between):
			start = w.start
		}
	}
	return false
}

// deniesWord reports whether "do not" stands right before word i.
func (a *attempt) deniesWord(i int) bool {
	for k := i - 1; k >= max(0, i-8); k-- {
		if w := &a.words[k]; w.end <= a.words[i].start && w.means.meets(&notWords) && strings.TrimSpace(a.view.text[w.end:a.words[i].start]) == "" {
			return true
		}
	}
	return false
}

// isFirm reports whether a text between "do not" and a word says no more than how firm that is.
func isFirm(s string) bool {
	switch strings.Trim(s, ", ") {
	case "":
		return s == ""
	case "ever", "under any circumstances", "under any circumstance", "in any case", "in any way":
		return true
	}
	return false
}

// isOr reports whether a text stands between things of which one is to be chosen.
func isOr(s string) bool {
	switch s {
	case ",", "or", "nor", ", or", ", nor":
		return true
	}
	return false
}

// maxNoun is the longest noun that is looked at.
const maxNoun = 40

// followed reports whether a noun follows right away that makes a credential word something else.
func followed(rest string) bool {
	rest = strings.TrimLeft(rest, " \t\n-_")
	n := 0
	for n < len(rest) && n < maxNoun && text.Is(rest[n], text.Letter) {
		n++
	}
	return n > 0 && company.HasString(strings.ToLower(rest[:n]))
}

// company are the nouns after "password" or "secret" of which it is only a part.
var company = text.Words(`policy policies manager managers reset resets hash hashes hashing strength length field fields prompt prompts protected protection
	encryption requirement requirements generator generation generators file files rotation recovery change changes expiry expiration authentication complexity
	entry store storage stores vault variable variables parameter parameters argument box input form forms santa sharing management safety security hygiene
	best rules rule check checker cracking cracker type types format validation validator manager's system systems column columns attribute attributes service services
	engine engines provider link links page example examples endpoint scanning scanner scan detection leak leaks usage limit limits count bucket name names option settings setting`)

// discussed reports whether what stands from start to end, where a word ends, is spoken about rather
// than said: it is quoted or reported, and the text around is about attacks, examples and their
// detection.
func discussed(text string, words []hit, word, start, end int) bool {
	if !quoted(text, start, end) && !reported(text[:start]) {
		return false
	}
	for i := word; i >= 0 && words[i].end > start-160; i-- {
		if w := words[i]; w.means.meets(&aboutWords) && w.end <= start {
			return true
		}
	}
	for i := word + 1; i < len(words) && words[i].end < end+100+longest; i++ {
		if w := words[i]; w.means.meets(&aboutWords) && w.start >= end && w.start-end < 100 {
			return true
		}
	}
	return false
}

// longest is more than the longest word of the lexicon has bytes.
const longest = 200

// quoted reports whether an opening quotation mark stands shortly before start and a closing one
// shortly after end.
func quoted(s string, start, end int) bool {
	before, after := s[max(0, start-60):start], s[end:min(len(s), end+100)]
	for _, marks := range [...][2]string{{`"`, `"`}, {"'", "'"}, {"`", "`"}, {"“", "”"}, {"‘", "’"}, {"«", "»"}, {"„", "“"}, {"「", "」"}, {"*", "*"}} {
		i := strings.LastIndex(before, marks[0])
		if i < 0 || !strings.Contains(after, marks[1]) {
			continue
		}
		if strings.ContainsAny(before[i:], "\n") || i > 0 && text.Is(before[i-1], text.Letter|text.Digit) {
			continue
		}
		return true
	}
	return false
}

// reported reports whether the text before a demand makes it somebody else's: "… to ignore".
func reported(before string) bool {
	fields := strings.Fields(before[max(0, len(before)-40):])
	if len(fields) == 0 {
		return false
	}
	switch strings.ToLower(strings.Trim(fields[len(fields)-1], `"'(,`)) {
	case "to", "that", "by", "of", "like", "as", "about", "into", "for", "which", "who", "models", "model", "llm", "assistant":
		return true
	}
	return false
}
