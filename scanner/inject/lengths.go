package inject

import "math/bits"

// lengths are the lengths of the words up to one: of the last, how many in a row have that, and how many
// in a row are single letters, with the word and before it.
type lengths struct{ last, same, single, before int }

// words finds the marks that depend on what stands between white space. It goes from edge to edge of the
// words. Most have only letters, and signs behind the second byte; their length is all that counts.
func (m *marks) words(s string, p *planes) {
	var row lengths
	before := ^uint64(0)
	start, inside, odd := 0, false, uint64(0)
	for n := range p.blocks { // the last one is empty: the text ends in white space
		b, at := &p.blocks[n], n*blockSize
		blank := b[spaces]
		if left := p.size - at; left < blockSize {
			blank |= ^uint64(0) << max(0, left)
		}
		second := ^blank & (blank<<1 | before>>63) << 1
		rare := b[wides] | b[digits] | b[symbols] | second&^b[letters] | 1<<63&^blank
		low := uint64(0) // bits before the word
		for edges := blank ^ (blank<<1 | before>>63); edges != 0; edges &= edges - 1 {
			i := bits.TrailingZeros64(edges)
			below := uint64(1)<<i - 1
			if !inside {
				start, inside, low = at+i, true, below
				continue
			}
			length := at + i - start
			if row.add(length); odd|rare&below&^low != 0 || length == 1 || row.same >= minChunks {
				m.word(s, p, start, at+i, &row)
			}
			inside, odd = false, 0
		}
		if inside {
			odd |= rare &^ low
		}
		before = blank
	}
}

// add adds a word that is no single letter.
func (l *lengths) add(n int) {
	same := 0
	if n == l.last {
		same = 1
	}
	l.last, l.same = n, (l.same+1)*same
	if n > 1 {
		l.before, l.single = l.single, 0
	}
}

// word looks at a word that may be a mark.
func (m *marks) word(s string, p *planes, start, end int, row *lengths) {
	n := end - start
	kind := p.kinds(start, end)
	if kind&(kWide|kDigit|kSymbol) != 0 {
		m.oddWord(s, start, end, kind)
	}
	switch {
	case n == 1:
		row.single++
	case kind&kWide != 0 && isOne(s[start:end]):
		row.single = row.before + 1
	}
	if row.same >= minChunks {
		m.row(s, start, end)
	}
	if row.single >= minSingle {
		m.apart.add(start-2*minSingle, end, context)
	}
	if n >= minApart && !inWord[s[start+1]] && isApart(s[start:end]) {
		m.apart.add(start, end, context)
	}
}
