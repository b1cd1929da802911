package redact

// Idler is a stream of events or lines, of which one may wait for a few letters that may begin a secret. It
// would be seen with the next piece of its text only, which may come in an hour.
type Idler interface {
	Stream
	// Waits reports whether an event or a line waits.
	Waits() bool
	// Idle is for when nothing has come for a while. It appends to dst what waits for three letters or less
	// of a text, with them, and returns dst. If they begin a secret after all, the rest of it goes.
	Idle(dst []byte) []byte
}

// maxSpared is how many letters of what may begin a secret Idle writes. A secret has eight at least.
const maxSpared = 3

// Waits implements [Idler].
func (r *EventStream) Waits() bool { return r.state.waits() }

// Idle implements [Idler].
func (r *EventStream) Idle(dst []byte) []byte {
	r.dst = dst
	r.redactWaiting()
	dst, r.dst = r.state.idle(r.dst), nil
	return dst
}

// Waits implements [Idler].
func (r *LineStream) Waits() bool { return r.state.waits() }

// Idle implements [Idler].
func (r *LineStream) Idle(dst []byte) []byte { return r.state.idle(dst) }

func (s *streamFields) waits() bool { return s.shapes.wait.waits() || !s.queue.Empty() }

func (s *streamFields) idle(dst []byte) []byte {
	s.queue.Each((*fieldText).spare)
	return s.queue.Release(dst)
}

// spare writes what the text holds back to its hole, if it is a few letters. It does not forget them.
func (t *fieldText) spare() {
	e, known := t.engine(), &t.json.finder
	if t.plain != nil {
		known = &t.plain.finder
	}
	begun := len(known.buf) + marks.Held(e.state, e.before[:e.seen]) // also what was written here before
	if t.json.form == asJSON || e.rule != nil || e.value.end != nil || known.rest != "" || begun > maxSpared {
		return
	}
	if _, _, found := marks.Find(e.state, known.held()); found || len(e.ends) > 0 {
		return
	}
	t.show()
}

// show writes what the text holds back, which is not JSON itself, to its hole. If that begins a secret, the rest
// of it still goes.
func (t *fieldText) show() {
	t.fill(t.rest())
	if t.plain != nil {
		t.plain.finder.spare((*remainder)(t.plain))
		t.plain.dst = nil
	} else {
		t.json.out = new([]byte)
		t.json.finder.spare((*remainderText)(&t.json))
		t.json.encoded.Reset()
	}
	e := t.engine()
	e.sent = len(e.buf)
}

// Interface guards.
var (
	_ Idler = (*EventStream)(nil)
	_ Idler = (*LineStream)(nil)
)
