package redact

import (
	"github.com/svc-gateway/svc/scanner/jsonscan"
)

// limits of a JSON document. A deeper one is redacted as plain text.
const (
	maxDepth = 10_000
	maxKey   = 256 // last bytes of a key or name that are looked at
)

// fields gives each string of a document its text. Without one, each string is a text.
type fields interface {
	// open returns the text that the string at this path belongs to, nil when it is a text of
	// its own.
	open(path []byte, key []byte) *jsonText
	// shut is called at the end of a string that open gave a text to.
	shut(t *jsonText)
	// stays is called before a string that stays whatever it is.
	stays()
	// number is called before a number, which may be a secret.
	number(key []byte, secret bool)
	// tag is called at each object and returns what tells it apart from others at its path, and
	// whether it is named as a secret.
	tag(path []byte) (tag []byte, named bool)
}

// walker reads JSON byte by byte and writes it with its secrets redacted.
type walker struct {
	out    []byte
	fields fields
	levels []level
	state  walkState
	at     int // of the byte outside of strings that is being read, in the piece

	text    *jsonText // of the open string, nil while it is dropped
	own     jsonText  // of keys, and of strings that are texts of their own
	isKey   bool      // the open string is a key
	dropped bool      // something of the value was dropped, and Mark stands for it
	doubtful
	escape  []byte // an escape that is not complete
	literal []byte // true, false or null as far as it came
	number  []byte // a number that may be a secret, as far as it came
	hidden  bool   // number is being read

	// Of a document in a string of another one.
	nested bool
	raw    []byte           // how the byte that is being read stands there, nil: as it is
	outer  jsonscan.Encoded // how escape does

	word    []byte  // the key, or a string that may name the next one
	collect bool    // word is being read
	dash    bool    // it begins with a dash
	kind    keyKind // what the key, or the string before, tells of the next value
	tail    []byte  // the last bytes that were read
	rule    string  // the name of the rule that makes the value a secret
	late    late
	kept    kept
	waits   bool   // in a string: values may be held back
	path    []byte // keys and indexes that lead to the open value, for fields
}

type walkState uint8

const (
	wantValue walkState = iota // also between documents
	wantValueOrEnd
	wantKey
	wantKeyOrEnd
	wantColon
	wantComma
	inString
	inNumber
	inLiteral
)

// reset makes the walker forget everything but its memory and its fields.
func (w *walker) reset() {
	w.own.cut()
	w.outer.Reset()
	*w = walker{
		fields: w.fields, levels: w.levels[:0], own: w.own,
		escape: w.escape[:0], literal: w.literal[:0], number: w.number[:0], word: w.word[:0], path: w.path[:0], tail: w.tail[:0],
		nested: w.nested, outer: w.outer, kept: kept{out: w.kept.out[:0]}, late: late{quote: w.late.quote[:0]}, doubtful: doubtful{w.doubtful.raw[:0], w.doubtful.text[:0]},
	}
}

// walk reads p and returns how much of it is JSON. After less than all of it the walker must
// be reset; waiting then is what was read and not written.
func (w *walker) walk(p []byte) int {
	n := w.read(p)
	w.tail = append(w.tail, p[max(0, n-lookBehind):n]...)
	if over := len(w.tail) - lookBehind; over > 0 {
		w.tail = append(w.tail[:0], w.tail[over:]...)
	}
	return n
}

func (w *walker) read(p []byte) int {
	for i := 0; i < len(p); {
		switch w.state {
		case inString:
			i += w.inString(p[i:])
		case inNumber:
			start := i
			for i < len(p) && (is(p[i], digit) || p[i] == '.' || p[i] == 'e' || p[i] == 'E' || p[i] == '+' || p[i] == '-') {
				i++
			}
			w.digits(p[start:i])
			if i < len(p) {
				w.numberEnds()
				w.valueEnds()
			}
		case inLiteral:
			if !w.inLiteral(p[i]) {
				return i
			}
			i++
		default:
			w.at = i
			if !is(p[i], space) && !w.structure(p[i]) {
				return i
			}
			if is(p[i], space) {
				w.put(p[i])
			}
			i++
		}
	}
	return len(p)
}

// put writes a byte of the input, as it stands there.
func (w *walker) put(b byte) {
	if w.raw != nil {
		w.out = append(w.out, w.raw...)
		return
	}
	w.out = append(w.out, b)
}

// end closes what is open at the end of the input.
func (w *walker) end() {
	if w.state == inString && w.text != nil {
		for i := range w.escape {
			raw := w.escape[i : i+1]
			if w.nested {
				w.text.escape(w.outer.Pop(1), raw)
			} else {
				w.text.plain(raw)
			}
		}
		w.text.close()
	} else if w.state == inString && w.text == nil && len(w.doubtful.text) > 0 {
		w.drop()
	}
	w.numberEnds()
	w.out = append(w.out, w.literal...)
}

// waiting returns the literal or number that may turn out to be no JSON.
func (w *walker) waiting() []byte {
	if w.hidden {
		return w.number
	}
	return w.literal
}

// fail returns what becomes of the rest of the input, which is not JSON: it is redacted as
// plain text.
func (w *walker) fail(rest []byte) []byte {
	var plain TextStream
	plain.know(w.own.finder.from)
	plain.follow(w.lead())
	out := plain.Append(nil, w.waiting())
	return plain.Close(plain.Append(out, rest))
}

// lead returns what the text that begins where JSON ends goes on after: the end of the line so far, or
// a word for a secret where the value of a key that names one is due.
func (w *walker) lead() []byte {
	if due := w.state == wantValue || w.state == wantColon || w.state == inLiteral || w.hidden; due && w.secret() {
		return []byte(`"password":`)
	}
	return lastLine(w.tail[:max(0, len(w.tail)-len(w.waiting()))])
}

// secret reports whether a string that begins now is one.
func (w *walker) secret() bool {
	return !w.allowed() && (w.kind == secretKey || w.kind != plainKey && len(w.levels) > 0 && w.levels[len(w.levels)-1].secret)
}

// allowed reports whether a string that begins now stays whatever it is.
func (w *walker) allowed() bool {
	return w.kind == allowedKey || w.own.watch != nil && len(w.levels) > 0 && w.levels[len(w.levels)-1].allowed
}

// structure reads a byte outside of strings, numbers and literals.
func (w *walker) structure(b byte) bool {
	if w.state == wantComma && len(w.levels) == 0 {
		w.state = wantValue
	}
	switch w.state {
	case wantValue, wantValueOrEnd:
		switch {
		case b == ']' && w.state == wantValueOrEnd:
			return w.pop(b)
		case b == '{' || b == '[':
			return w.push(b)
		}
		return w.value(b)
	case wantKey, wantKeyOrEnd:
		if b == '}' && w.state == wantKeyOrEnd {
			return w.pop(b)
		}
		if b != '"' {
			return false
		}
		w.put(b)
		w.state, w.isKey, w.text = inString, true, &w.own
		w.own.out, w.own.form = &w.out, asText
		w.collect, w.word = true, w.word[:0]
		return true
	case wantColon:
		if b == ':' {
			w.state = wantValue
			w.put(b)
		}
		return b == ':'
	}
	switch top := &w.levels[len(w.levels)-1]; {
	case b == ',':
		w.state = wantValue
		if top.object {
			w.state = wantKey
		}
		top.index++
		w.put(b)
		return true
	case b == '}' && top.object, b == ']' && !top.object:
		return w.pop(b)
	}
	return false
}

// value reads the first byte of a string, number or literal.
func (w *walker) value(b byte) bool {
	secret, holds := w.secret(), false
	w.dropped = false
	w.doubtful.raw, w.doubtful.text = w.doubtful.raw[:0], w.doubtful.text[:0]
	switch {
	case b == '"':
		if w.fields == nil && (w.waits || !w.nested) && !secret && !w.allowed() {
			holds = w.hold()
		}
		w.state, w.isKey, w.text = inString, false, nil
		w.collect = false
		if !secret {
			w.openString()
			w.prime()
		}
	case is(b, digit) || b == '-':
		w.state = inNumber
		w.numberBegins(secret)
		w.digits([]byte{b})
		return true
	case b == 't' || b == 'f' || b == 'n':
		w.state = inLiteral
		w.literal = append(w.literal[:0], b)
		return true
	default:
		return false
	}
	if w.put(b); holds {
		w.late.quote = append(w.late.quote, w.out[w.late.from:]...)
	}
	return true
}

// key returns the key of the open value, nil in an array.
func (w *walker) key() []byte {
	if n := len(w.levels); n > 0 && w.levels[n-1].object {
		return w.path[min(w.levels[n-1].path+1, len(w.path)):]
	}
	return nil
}

// valueEnds is called after each value.
func (w *walker) valueEnds() {
	w.state, w.kind = wantComma, openKey
	if w.late.depth == len(w.levels) && w.late.to == 0 {
		w.late.to = len(w.out)
	}
	if w.late.depth > 0 && len(w.out)-w.late.from > maxLate {
		w.giveLate()
	}
}

// prime makes the rule of the key judge the string that was opened.
func (w *walker) prime() {
	switch {
	case w.text != &w.own:
	case w.allowed():
		w.own.off = true
	case w.kind == guardedKey:
		w.own.rule = &guardedValue
	case w.kind == scatteredKey:
		w.own.rule = &scatteredValue
	case w.kind == shortKey:
		w.own.rule = &shortValue
	case w.kind == sparedKey:
		w.own.rule = &sparedValue
	}
}

// inLiteral reads a byte of true, false or null.
func (w *walker) inLiteral(b byte) bool {
	for _, word := range [...]string{"true", "false", "null"} {
		if n := len(w.literal); word[0] == w.literal[0] && n < len(word) && word[n] == b {
			if w.literal = append(w.literal, b); len(w.literal) == len(word) {
				w.out = append(w.out, w.literal...)
				w.literal = w.literal[:0]
				w.valueEnds()
			}
			return true
		}
	}
	return false
}
