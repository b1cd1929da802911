package inject

import (
	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/internal/text"
)

// view is a text to look at: the original, or what a disguise hides.
type view struct {
	name   string
	text   string
	from   []int32 // where each byte of the text, and its end, stand in the original; nil: at the same place
	whole  *span   // what all of the text stands for, when it was decoded
	leet   bool    // digits and symbols may stand for letters
	joined bool    // words are not set apart
	hidden bool    // markup hides the text from people
	undone traits  // disguises that were taken off
}

// span is a part of the original text.
type span struct{ start, end int }

// original returns the place in the original text of the bytes from start to end.
func (v *view) original(start, end int) (int, int) {
	if v.whole != nil {
		return v.whole.start, v.whole.end
	}
	if v.from == nil {
		return start, end
	}
	from, to := int(v.from[start]), int(v.from[end])
	if from > to { // written backwards
		from, to = to, from
	}
	return from, max(to, from+1)
}

// words returns the words of the lexicon in the view.
func (v *view) words(list []hit, wide bool) []hit {
	switch {
	case v.joined:
		return joinedWords().hits(list, v.text)
	case v.leet:
		return wordsOf(leetWords(), list, v.text, wide)
	}
	return wordsOf(plainWords(), list, v.text, wide)
}

// draft is a view that is being written.
type draft struct {
	of   *view
	text []byte
	from []int32
}

// newDraft begins a draft of about n bytes.
func newDraft(of *view, n int) *draft {
	return &draft{of: of, text: make([]byte, 0, n), from: make([]int32, 0, n+1)}
}

// write appends what stands at byte i of the view that the draft is made of.
func (d *draft) write(i int, p ...byte) {
	place := int32(i)
	if d.of.from != nil {
		place = d.of.from[i]
	}
	for range p {
		d.from = append(d.from, place)
	}
	d.text = append(d.text, p...)
}

// view finishes the draft; end is the byte after the last one it stands for.
func (d *draft) view(name string, end int, undone traits) view {
	place := int32(end)
	if d.of.from != nil {
		place = d.of.from[end]
	}
	return view{name: name, text: string(d.text), from: append(d.from, place), whole: d.of.whole, hidden: d.of.hidden, undone: d.of.undone | undone}
}

// decoded returns a view of what the bytes from start to end of a view hide.
func (v *view) decoded(name, text string, start, end int) view {
	start, end = v.original(start, end)
	return view{name: name, text: text, whole: &span{start, end}, hidden: v.hidden, undone: v.undone}
}

// unfold makes the views that the traits of a view call for.
func (s *scan) unfold(v view, marks traits) {
	marks &^= v.undone
	if marks&ciphered != 0 {
		s.push(view{name: scanner.ViewRot13, text: text.Rot13(v.text), from: v.from, whole: v.whole, hidden: v.hidden, undone: v.undone | ciphered | mirrored})
	}
	if marks&wideBytes != 0 {
		if c, changed := canonical(&v); changed {
			s.push(c) // it has all that this one has
			return
		}
	}
	if marks&escaped != 0 {
		if u, changed := unescaped(&v); changed {
			s.push(u)
		}
	}
	if marks&coded != 0 {
		s.decode(&v)
	}
	if marks&mirrored != 0 {
		s.push(backwards(&v))
	}
	if marks&leetish != 0 {
		s.push(view{name: scanner.ViewLeet, text: v.text, from: v.from, whole: v.whole, leet: true, hidden: v.hidden, undone: v.undone | leetish})
	}
	if marks&spacedOut != 0 {
		u := unspaced(&v)
		s.push(u)
		u.name, u.joined = scanner.ViewJoined, true
		s.push(u)
	}
	if marks&marked != 0 {
		s.hiddenText(&v)
	}
}

// push queues a view, if it is not too much.
func (s *scan) push(v view) {
	if s.left -= len(v.text) + 64; s.left >= 0 && len(v.text) > 0 {
		s.queue = append(s.queue, v)
	}
}

// backwards returns a view of the text read from its end.
func backwards(v *view) view {
	d := newDraft(v, len(v.text))
	for i := len(v.text) - 1; i >= 0; i-- {
		d.write(i+1, v.text[i])
	}
	return d.view(scanner.ViewBackwards, 0, ciphered|mirrored)
}
