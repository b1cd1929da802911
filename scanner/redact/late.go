package redact

import "bytes"

// late is a value that came before the name that may make it a secret:
// {"value": "x", "name": "password"}.
type late struct {
	depth    int    // number of open levels; 0: there is none
	from, to int    // in the output; to is 0 while the value is open
	quote    []byte // before and behind the value, as it is written there
}

// maxLate is how many bytes of output are held back for a name.
const maxLate = 256 << 10

// hold begins to hold back the output for the name of the value that begins, and reports whether it does.
func (w *walker) hold() bool {
	if n := len(w.levels); w.late.depth == 0 && n > 0 {
		if top := &w.levels[n-1]; top.object && !top.hasName && valueKeys.HasFold(w.word) {
			w.late = late{depth: n, from: len(w.out), quote: w.late.quote[:0]}
			return true
		}
	}
	return false
}

// settle is told the name of the object that holds a value back.
func (w *walker) settle(secret bool) {
	if w.late.depth != len(w.levels) || w.late.to == 0 {
		return
	}
	if secret {
		w.own.watch.at(w.path)
		w.own.watch.note(namedValue)
		tail := bytes.Clone(w.out[w.late.to:])
		w.out = append(append(append(w.out[:w.late.from], w.late.quote...), Mark...), w.late.quote...)
		w.out = append(w.out, tail...)
	}
	w.giveLate()
}

// giveLate gives up holding back.
func (w *walker) giveLate() { w.late = late{quote: w.late.quote[:0]} }

// kept is what a document in a string holds back between the pieces that are read.
type kept struct {
	out  []byte // that is held back
	away []byte // the output of the text around, while the document writes to out
	held bool   // it does
}

// resume gives a document in a string its output.
func (w *walker) resume(out []byte) {
	if w.kept.held = w.late.depth > 0; w.kept.held {
		w.kept.away, w.out = out, w.kept.out
	} else {
		w.out = out
	}
}

// pause takes the output, without what is held back.
func (w *walker) pause() []byte {
	out, from := w.out, len(w.out)
	if w.out = nil; w.late.depth > 0 {
		from = w.late.from
		if w.late.to > 0 {
			w.late.to -= from
		}
		w.late.from = 0
	}
	if w.kept.held {
		around := append(w.kept.away, out[:from]...)
		w.kept.out, w.kept.away = append(out[:0], out[from:]...), nil
		return around
	}
	w.kept.out = append(w.kept.out[:0], out[from:]...)
	return out[:from]
}

// kept returns what the JSON in the text holds back, at every level.
func (t *jsonText) kept() (out []byte) {
	for ; t != nil && t.form == asJSON; t = t.inner.text {
		if out = append(out, t.inner.kept.out...); t.inner.state != inString {
			break
		}
	}
	return out
}

// takeKept gives up holding back, and returns what was.
func (t *jsonText) takeKept() []byte {
	out := t.kept()
	for ; t != nil && t.form == asJSON; t = t.inner.text {
		t.inner.giveLate()
		if t.inner.kept.out = t.inner.kept.out[:0]; t.inner.state != inString {
			break
		}
	}
	return out
}
