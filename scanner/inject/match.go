package inject

import (
	"cmp"
	"math/bits"
	"strings"
	"sync"
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
	number  int
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
		entry := plan{threat: t, number: i, ordered: ordered, within: cmp.Or(t.within, defaultGap)}
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
	*watches
}

// bench is the memory for trying the threats on one text at a time.
type bench struct {
	layout
	watches
}

// match tries the threats on the words of a text, whose layout is begun, from one of them on, and calls found for each
// that is there, by the end of its last word. It returns the first word that more text may make
// complete a threat which it does not complete yet, the number of words if there is none. What it does
// is taken off work, and it does no more when there is none left.
func match(v *view, b *bench, words []hit, from int, work *int, found func(t *threat, start, end, word int)) (again int) {
	m := matcher{plans: thePlans(), view: v, words: words, ruler: ruler{layout: &b.layout, text: v.text, words: words}, watches: &b.watches, work: work}
	b.fresh = false
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
				m.ruler.measure(i)
				if len(entry.slots) > 1 && !m.near(entry, i) {
					continue
				}
				if *work < 0 {
					return again
				}
				a := attempt{matcher: &m, plan: entry}
				if start, ok := a.complete(i); ok {
					found(entry.threat, start, w.end, i)
				} else if v.open && a.filled && m.ruler.seesTo(w) == len(v.text) {
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
	w := &m.words[i]
	for s := range p.slots {
		far := len(p.slots) - 1
		if p.ordered {
			far -= s
		}
		if far == 0 || !p.ordered && w.means.meets(&p.slots[s]) {
			continue
		}
		least := w.from - int32(far*p.within+(far-1)*longWord)
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
			if k := int(m.last[64*n+bits.TrailingZeros64(set)]) - 1; k >= max(0, i-reach) && m.words[k].to >= least {
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
		return start, a.holds(&a.words[i])
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

// holds reports whether the words that were found, the first of which is given, mean what the threat says.
func (a *attempt) holds(first *hit) bool {
	a.filled = true
	*a.work -= confirmWork
	last := &a.words[a.placed[0]]
	for s := range a.slots {
		if w := &a.words[a.placed[s]]; w.end > last.end {
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
	around := span{a.ruler.seesFrom(first), a.ruler.seesTo(last)}
	confirm, exclude := a.seen(a.plan)
	return (a.confirm == nil || a.confirm.matches(a.view, around, confirm)) && (a.unless == nil || !a.unless.matches(a.view, around, exclude))
}

// confirmWork is what it costs to confirm a threat, where looking at a word costs 1.
const confirmWork = 32
