package inject

import (
	"slices"
	"unsafe"

	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/internal/text"
)

// view is a text to look at: the original, or what a part of another view hides.
type view struct {
	name    string
	text    string
	parent  *view  // nil: it is the original
	of      span   // what it stands for in the parent
	steps   []step // where the text and the parent do not go on side by side
	decoded bool   // each byte stands for all of the part
	turned  bool   // it is written from the end
	leet    bool   // digits and symbols may stand for letters
	joined  bool   // words are not set apart
	hidden  bool   // markup hides the text from people
	undone  traits // disguises that were taken off
	depth   int    // of views in views
	open    bool   // more text may come
}

// step says that from byte at of a view on its bytes stand for those of the parent from byte of on.
type step struct{ at, of int }

// original returns the place in the original text of the bytes from start to end.
func (v *view) original(start, end int) (int, int) {
	for ; v.parent != nil; v = v.parent {
		switch {
		case v.decoded:
			start, end = v.of.start, v.of.end
		case v.turned:
			start, end = v.of.end-end, v.of.end-start
		default:
			start, end = v.place(start), v.place(end)
		}
		end = max(end, start+1)
	}
	return start, end
}

// place returns where a byte, or the end, stands in the parent.
func (v *view) place(i int) int {
	if len(v.steps) == 0 {
		return v.of.start + i
	}
	n, _ := slices.BinarySearchFunc(v.steps, i, func(s step, i int) int { return s.at - i - 1 })
	last := v.of.end
	if n < len(v.steps) {
		last = v.steps[n].of
	}
	if n == 0 {
		return min(v.of.start+i, last)
	}
	return min(v.steps[n-1].of+i-v.steps[n-1].at, last)
}

// part returns a view of a part of v, as it is.
func (v *view) part(name string, p span) view {
	return view{name: name, text: v.text[p.start:p.end], parent: v, of: p, hidden: v.hidden, leet: v.leet, undone: v.undone, depth: v.depth + 1}
}

// draft is a view that is being written. Its memory is that of the next draft as well.
type draft struct {
	text  []byte
	steps []step
	ahead int // how far the part of the parent is ahead of the text
}

// begin begins a draft of what stands in the parent from start on.
func (d *draft) begin(start int) { d.text, d.steps, d.ahead = d.text[:0], d.steps[:0], start }

// standFor says that what is written next stands for the parent's bytes from i on.
func (d *draft) standFor(i int) {
	if i-len(d.text) != d.ahead {
		d.ahead = i - len(d.text)
		d.steps = append(d.steps, step{len(d.text), i})
	}
}

// copy writes the bytes of the parent from start to end.
func (d *draft) copy(s string, start, end int) {
	d.standFor(start)
	d.text = append(d.text, s[start:end]...)
}

// view finishes the draft of a part of v. It is valid until the next draft begins.
func (d *draft) view(name string, v *view, p span, undone traits) view {
	d.standFor(p.end)
	child := v.part(name, p)
	child.text, child.steps, child.leet = d.string(), d.steps, false
	child.undone |= undone
	return child
}

// string returns the text without a copy: findings keep excerpts of the original only.
func (d *draft) string() string { return unsafe.String(unsafe.SliceData(d.text), len(d.text)) }

// decoded finishes the draft of what a part of v hides.
func (d *draft) decoded(name string, v *view, p span) view {
	child := v.part(name, p)
	child.text, child.decoded, child.leet = d.string(), true, false
	return child
}

// unfold looks at the views that the marks of a view call for. Where letters were made plain, the
// view with them has all that this one has.
func (s *scan) unfold(l *level) {
	v := &l.view
	l.plain, l.pieced = l.plain[:0], l.pieced[:0]
	seen := l.marks.traits &^ v.undone
	if seen&ciphered != 0 {
		for _, p := range l.ciphered {
			if !s.known(v, p.end) {
				s.rot13(v, p.in(v.text))
			}
		}
	}
	if seen&wideBytes != 0 {
		s.foldAll(v, l)
	}
	each := func(trait traits, list spans, look func(v *view, p span)) {
		if seen&trait == 0 {
			return
		}
		for _, p := range list {
			if p = p.in(v.text); !s.known(v, p.end) && !l.plain.covers(p) {
				look(v, p)
			}
		}
	}
	each(escaped, l.marks.escapes, func(v *view, p span) { s.unescape(v, p, &l.bench.planes) })
	if seen&coded != 0 {
		each(coded, l.marks.octets, s.decodeFields)
		s.decode(v, l)
	}
	each(mirrored, l.mirrored, s.backwards)
	if !v.leet {
		each(leetish, l.marks.leet, s.unleet)
	}
	each(spacedOut, l.marks.rows, s.tryRow)
	each(spacedOut, l.pieced, s.unspace)
	each(spacedOut, l.marks.apart, s.unspace)
	if seen&marked != 0 && !v.hidden {
		s.hiddenText(v)
	}
}

// rot13 looks at a part in rot13.
func (s *scan) rot13(v *view, p span) {
	d := s.draft(v, p)
	d.text = text.AppendRot13(d.text, v.text[p.start:p.end])
	s.look(d.view(scanner.ViewRot13, v, p, ciphered|mirrored))
}

// backwards looks at a part that is read from its end.
func (s *scan) backwards(v *view, p span) {
	d := s.draft(v, p)
	d.text = append(d.text, v.text[p.start:p.end]...)
	slices.Reverse(d.text)
	turned := d.view(scanner.ViewBackwards, v, p, ciphered|mirrored)
	turned.steps, turned.turned = nil, true
	s.look(turned)
}

// unleet looks at a part whose digits and symbols may stand for letters. It says nothing new where no
// word has some.
func (s *scan) unleet(v *view, p span) {
	u := v.part(scanner.ViewLeet, p)
	u.leet = true
	if !s.afford(len(u.text)) {
		return
	}
	l := s.level(u.depth)
	l.view = u
	l.words = leetWords().hits(l.words[:0], u.text)
	if slices.ContainsFunc(l.words, func(w hit) bool { return !lettersOnly(u.text[w.start:w.end]) }) {
		l.bench.begin()
		s.phrases(l)
	}
}

// lettersOnly reports whether a word has no digit or symbol that may stand for a letter.
func lettersOnly(word string) bool {
	for i := range len(word) {
		if !text.Is(word[i], text.Letter) && text.Is(foldLeet(word[i]), text.Letter) {
			return false
		}
	}
	return true
}

// join looks at the words of a view that are not set apart.
func (s *scan) join(j view) {
	j.name, j.joined = scanner.ViewJoined, true
	if !s.afford(len(j.text)) {
		return
	}
	l := s.level(j.depth)
	l.view = j
	l.words = joinedWords().hits(l.words[:0], j.text)
	l.bench.begin()
	s.phrases(l)
}
