package redact

// maxSpared is how many bytes of what may begin a secret a pause sets free. A secret has eight at least.
const maxSpared = 3

// idle is told of a keepalive: nothing follows for now. An event that waits for a few letters that may begin a
// secret would be seen with the next piece of its text only, which may come in an hour.
func (r *EventStream) idle() {
	if !r.state.shapes.wait.waits() && len(r.state.queue.events) == 0 {
		return
	}
	r.redactWaiting()
	r.state.queue.each((*fieldText).spare)
	r.dst = r.state.queue.release(r.dst)
}

// spare writes what the text holds back to its hole if it is a few letters that may begin a secret. It does
// not forget them: if they do, the rest of the secret goes.
func (t *fieldText) spare() {
	e, known := t.engine(), &t.json.finder
	if t.plain != nil {
		known = &t.plain.finder
	}
	begun := len(known.buf) + marks.Held(e.state, e.before[:e.seen]) // also what was set free before
	if t.json.form == asJSON || e.rule != nil || e.value.end != nil || known.rest != "" || begun > maxSpared {
		return
	}
	if _, _, found := marks.Find(e.state, known.held()); found || len(e.ends) > 0 {
		return
	}
	t.fill(t.rest())
	if t.plain != nil {
		known.spare((*remainder)(t.plain))
		t.plain.dst = nil
	} else {
		t.json.out = new([]byte)
		known.spare((*remainderText)(&t.json))
		t.json.encoded.Reset()
	}
	e.sent = len(e.buf)
}
