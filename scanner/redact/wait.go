package redact

import "github.com/svc-gateway/svc/scanner/redact/convention"

import "github.com/svc-gateway/svc/scanner/redact/literal"

// shapeWait is an event of a known shape that ends in what may begin a secret, as "the s" may go on
// as a token. Most often it does not: the next event of that shape shows it, and both pass as they
// came. In every other case the event is taken back from its texts and redacted like one whose
// shape is not known.
type shapeWait struct {
	name  string
	event []byte     // empty: none waits
	text  *fieldText // whose end is not decided
	tail  []byte     // that end
	saved []savedText
}

// savedText is a text as it was before the event.
type savedText struct {
	text *fieldText
	was  fieldText
}

// allows reports whether an event that the shape matched passes, or waits, by what its slots hold.
func (w *shapeWait) allows(f *shape, event []byte, secrets *literal.Forms) bool {
	if w.waits() && !w.goesOn(f, event) {
		return false
	}
	for k := range f.slots {
		t := &f.slots[k]
		var before []byte
		if t.text != nil && t.text == w.text {
			before = w.tail
		}
		if t.marked {
			continue
		}
		if t.kind != number && !t.clear(before, event, secrets) || t.kind == number && mayBeKnown(t.end-t.start, secrets) {
			return false
		}
	}
	_, open := f.undecided()
	if _, marked := f.marked(); marked > 0 {
		return marked == 1 && open == 0 && !w.waits()
	}
	return open <= 1
}

// goesOn reports whether the text of the event that waits goes on in another: it neither ends before
// that one nor begins anew in it.
func (w *shapeWait) goesOn(f *shape, event []byte) bool {
	if convention.Endings.HasString(f.name) {
		return false
	}
	found := false
	for k := range f.slots {
		t := &f.slots[k]
		inside := event[t.start:t.end]
		switch {
		case t.kind == ownString && (t.escaped || convention.Endings.Has(inside)):
			return false
		case t.text == w.text:
			found = len(inside) > 0 && !t.anew
		}
	}
	return found
}

// hold makes an event wait that ends in t.
func (w *shapeWait) hold(f *shape, t *slot, head, event []byte) {
	w.name, w.text = f.name, t.text
	w.event = append(append(w.event[:0], head...), event...)
	w.tail = append(w.tail[:0], event[t.end-t.tail:t.end]...)
	for k := range f.slots {
		if text := f.slots[k].text; text != nil {
			w.saved = append(w.saved, savedText{text, *text})
		}
	}
}

// waits reports whether an event waits.
func (w *shapeWait) waits() bool { return len(w.event) > 0 }

// extend adds the second half of its line end to the event.
func (w *shapeWait) extend(lf []byte) { w.event = append(w.event, lf...) }

// release appends the event that waits: what it ends in begins no secret.
func (w *shapeWait) release(dst []byte) []byte {
	dst = append(dst, w.event...)
	w.done()
	return dst
}

// takeBack makes the texts forget the event that waits and returns it, empty when none does.
func (w *shapeWait) takeBack() []byte {
	event := w.event
	for i := range w.saved {
		*w.saved[i].text = w.saved[i].was
	}
	w.done()
	return event
}

func (w *shapeWait) done() {
	clear(w.saved)
	w.event, w.saved, w.text = w.event[:0], w.saved[:0], nil
}
