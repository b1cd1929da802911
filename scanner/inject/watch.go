package inject

// watch asks an expression of one part of a text after another. The parts mostly overlap, so it goes on
// where it stopped: what has no match in one part has none in the part of it that belongs to the next.
// Only when a match ends in what is new is that looked for in the part alone.
//
// A word that is cut where a part begins is not taken for a word that begins there.
type watch struct {
	from int   // where the first of the parts begins that have no match
	at   pause // where the last one ends; the zero value: there was none
}

// matches reports whether the expression has a match in a part of the text.
func (w *watch) matches(e *expression, s string, p span) bool {
	if w.at.state != 0 && w.from <= p.start && p.start <= w.at.pos && w.at.pos <= p.end {
		verdict, at := e.run(s[:p.end], w.at)
		if verdict == noMatch {
			w.at = at
			return false
		}
	}
	verdict, at := e.run(s[:p.end], e.begin(p.start))
	switch verdict {
	case noMatch:
		*w = watch{from: p.start, at: at}
	case tooManyStates:
		return e.slow().MatchString(e.folded(s[p.start:p.end]))
	}
	return verdict == aMatch
}

// watches are what confirmations have seen of a text, by plan.
type watches struct {
	fresh              bool // they are of the text
	confirms, excludes [64 * setWords]watch
}

// seen returns what the confirmations of a plan have seen.
func (w *watches) seen(p *plan) (confirm, exclude *watch) {
	if !w.fresh {
		*w = watches{fresh: true}
	}
	return &w.confirms[p.number], &w.excludes[p.number]
}
