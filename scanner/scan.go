package scanner

import (
	"cmp"
	"slices"
)

// limits of a scan.
const (
	maxFindings = 256 // findings of one text
	phrase      = 64  // bytes before a mark that a pattern can see
	window      = 256 // bytes after it, and before it where threat.wide is set
)

// threatMarks are the marks of the threats, "xn--" and bytes beyond ASCII. Threats of the same
// mark are known by the first of them.
var threatMarks = func() *markTable {
	t := new(markTable)
	seen := make(map[string]bool)
	for i, threat := range threats {
		if !seen[threat.mark] {
			seen[threat.mark] = true
			t.add(i, threat.mark, false)
		}
	}
	t.add(len(threats), "xn--", false)
	t.add(len(threats), "\x80", true)
	for b := 0x81; b <= 0xff; b++ {
		t.next[b] |= t.next[0x80]
	}
	return t
}()

// Scan returns what looks like an injection in the text, by its place; nil when there is
// nothing. A text of more than 256 findings is cut off there. Scan is safe for concurrent use.
func Scan(text string) []Finding {
	if !suspicious(text) {
		return nil
	}
	found := scanInvisible(nil, text)
	found = scanHomographs(found, text)
	found = scanPhrases(found, text)
	for i, f := range found {
		found[i].Excerpt = visible(text[f.Start:f.End])
	}
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
	})
	if len(found) == 0 {
		return nil
	}
	return found
}

// suspicious is the fast path: it reports whether the text has anything to look at closely.
func suspicious(text string) bool {
	state := uint64(0)
	for pos := 0; pos < len(text); {
		next, n, mark := find(threatMarks, state, text[pos:])
		if mark < 0 {
			return false
		}
		state, pos = next, pos+n
		if mark == len(threats) || containsFold(text[max(0, pos-phrase):pos], threats[mark].near) {
			return true
		}
	}
	return false
}

// scanPhrases tries the patterns of the threats around their marks in the folded text.
func scanPhrases(found []Finding, text string) []Finding {
	f := newFolded(text)
	var done [64]int // where the last match of each threat ended
	state := uint64(0)
	for pos := 0; pos < len(f.text) && len(found) < maxFindings; {
		next, n, mark := find(threatMarks, state, f.text[pos:])
		state, pos = next, pos+n
		if mark < 0 || mark == len(threats) || !containsFold(f.text[max(0, pos-phrase):pos], threats[mark].near) {
			continue
		}
		for i := range threats {
			t := &threats[i]
			if t.mark != threats[mark].mark {
				continue
			}
			before := phrase
			if t.wide {
				before = window
			}
			start := max(done[i], pos-before)
			m := t.pattern.FindIndex(f.text[start:min(len(f.text), pos+window)])
			if m == nil || start+m[1] < pos-len(t.mark) {
				continue
			}
			done[i] = start + m[1]
			from, to := f.original(start+m[0], start+m[1], len(text))
			found = append(found, Finding{
				Category: t.category, Rule: t.rule, Confidence: t.confidence, View: ViewFolded, Start: from, End: to,
			})
		}
	}
	return found
}
