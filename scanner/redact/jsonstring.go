package redact

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/svc-gateway/svc/scanner/internal/text"
	"github.com/svc-gateway/svc/scanner/jsonscan"
)

// openString finds the text of a string that begins.
func (w *walker) openString() {
	var key []byte
	if n := len(w.levels); n > 0 {
		top := &w.levels[n-1]
		if w.collect = top.naming || top.typing || !top.object; top.object {
			key = w.path[top.path:]
		}
		if !top.object {
			w.path = strconv.AppendInt(append(w.path[:top.path], '/'), int64(top.index), 10)
		}
	}
	if w.collect {
		w.word = w.word[:0]
	}
	w.own.watch.at(w.path)
	if w.fields != nil && w.kind != sparedKey && w.kind != shortKey && !w.allowed() {
		w.text = w.fields.open(w.path, key)
	}
	if w.fields != nil && w.allowed() {
		w.fields.stays()
	}
	if w.text == nil {
		w.text = &w.own
	}
	w.text.out = &w.out
}

// inString reads the inside of a string and returns how much it read.
func (w *walker) inString(p []byte) int {
	if len(w.escape) > 0 {
		return w.inEscape(p[0])
	}
	n := 0
	for n < len(p) && p[n] != '"' && p[n] != '\\' {
		n++
	}
	if n > 0 && w.raw != nil {
		w.piece(w.raw, p[:n])
	} else if n > 0 {
		w.piece(p[:n], p[:n])
	}
	if n == len(p) {
		return n
	}
	if p[n] == '\\' {
		w.escapes('\\')
	} else {
		w.stringEnds()
	}
	return n + 1
}

// escapes adds a byte to the escape.
func (w *walker) escapes(b byte) {
	w.escape = append(w.escape, b)
	switch {
	case w.raw != nil:
		w.outer.Push(w.raw, 1)
	case w.nested:
		w.outer.Push([]byte{b}, 1)
	}
}

// inEscape reads a byte of an escape and returns how many bytes of it were read.
func (w *walker) inEscape(b byte) int {
	var room [utf8.UTFMax]byte
	w.escapes(b)
	text, n, more := jsonscan.Unescape(w.escape, room[:0])
	if more {
		return 1
	}
	raw := w.escape
	w.escape = w.escape[:0]
	if !w.nested {
		w.piece(raw[:n], text)
	} else {
		w.piece(w.outer.Pop(n), text)
	}
	rest := raw[n:]
	if len(rest) == 0 {
		return 1
	}
	// The rest is at most one other escape and the byte that showed that it is none, or
	// belongs to none: read it again.
	w.again(bytes.Clone(rest[:len(rest)-1]))
	return 0
}

// again reads the rest of what was no escape.
func (w *walker) again(p []byte) {
	if !w.nested {
		for len(p) > 0 {
			p = p[w.inString(p):]
		}
		return
	}
	raw := w.raw
	var forms [][]byte
	for range p {
		forms = append(forms, bytes.Clone(w.outer.Pop(1)))
	}
	w.outer.Reset()
	for i := range p {
		for w.raw = forms[i]; w.inString(p[i:i+1]) == 0; {
		}
	}
	w.raw = raw
}

// piece takes a piece of the open string.
func (w *walker) piece(raw, text []byte) {
	if w.collect {
		w.dash = len(w.word) == 0 && text[0] == '-' || len(w.word) > 0 && w.dash
		w.word = append(w.word, text...)
		w.word = append(w.word[:0], w.word[max(0, len(w.word)-maxKey):]...)
	}
	switch {
	case w.text == nil && w.dropped:
	case w.text == nil:
		w.doubtful.raw, w.doubtful.text = append(w.doubtful.raw, raw...), append(w.doubtful.text, text...)
		if len(w.doubtful.text) > maxName {
			w.drop()
		}
	case raw[0] == '\\':
		w.text.escape(raw, text)
	default:
		w.text.plain(raw)
	}
}

// doubtful is the beginning of a string that is a secret by its key, unless it as a whole only stands for
// one: "your-password".
type doubtful struct{ raw, text []byte }

// drop writes Mark in the place of the open string.
func (w *walker) drop() {
	w.own.watch.at(w.path)
	w.own.watch.note(w.rule)
	w.out = append(w.out, Mark...)
	w.dropped = true
	w.doubtful.raw, w.doubtful.text = w.doubtful.raw[:0], w.doubtful.text[:0]
}

// stringEnds reads the closing quote.
func (w *walker) stringEnds() {
	switch {
	case w.text == nil && len(w.doubtful.text) > 0 && isStandIn(w.doubtful.text):
		w.out = append(w.out, w.doubtful.raw...)
	case w.text == nil && len(w.doubtful.text) > 0:
		w.drop()
	case w.text == nil:
	case w.text == &w.own:
		w.text.close()
	default:
		w.fields.shut(w.text)
	}
	w.put('"')
	w.text = nil
	if w.isKey {
		w.keyEnds()
		return
	}
	w.valueEnds()
	if !w.collect || len(w.levels) == 0 {
		return
	}
	switch top := &w.levels[len(w.levels)-1]; {
	case top.typing:
		top.typing, top.signed = false, signedTypes.Has(w.word)
	case top.naming:
		top.naming, top.hasName = false, true
		top.named = top.named || nameKind(w.word) == secretKey
		w.settle(top.named)
	case !top.object && w.dash && len(w.word) > 0 && !w.own.watch.all():
		w.kind, w.rule = nameKind(w.word), namedValue // ["--password", "x"]
	}
}

// keyEnds decides what the value of the key is.
func (w *walker) keyEnds() {
	w.state = wantColon
	top := &w.levels[len(w.levels)-1]
	key := w.word
	if top.keys == 0 {
		top.describes(key)
	}
	top.keys++
	top.naming = nameKeys.HasFold(key)
	w.kind = top.kindOf(key)
	w.path = append(append(w.path[:top.path], '/'), key...)
	if w.own.watch != nil {
		w.judge(key)
	}
}

// judge looks up what the configuration says of the key.
func (w *walker) judge(key []byte) {
	if w.rule = namedValue; w.kind != openKey {
		if word := wordIn(key); word != nil {
			w.rule = word.name()
		}
	}
	top := &w.levels[len(w.levels)-1]
	if w.own.watch.leavesSigned() {
		top.typing = string(key) == "type"
		top.signed = top.signed || string(key) == "signature"
	}
	switch {
	case top.signed && signedKeys.Has(key), w.own.watch.leavesField(w.path):
		w.kind = allowedKey
	case w.own.watch.all(), w.kind != openKey && w.own.watch.leaves(w.rule):
		w.kind = openKey
	}
}

// What Anthropic signs, in content blocks and in the pieces of streams.
var (
	signedTypes = text.Words(`thinking redacted_thinking thinking_delta signature_delta`)
	signedKeys  = text.Words(`thinking signature data`)
)
