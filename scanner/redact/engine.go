package redact

import (
	"bytes"
	"slices"

	"github.com/svc-gateway/svc/scanner/redact/literal"
)

// Mark stands where a secret stood.
const Mark = "REDACTED"

// lookBehind is how much of the output before a mark the rules can see.
const lookBehind = 128

// sink is told what becomes of the input, in its order.
type sink interface {
	keep(p []byte) // the next len(p) bytes stay; these are they
	drop(n int)    // the next n bytes go
	mark()         // Mark is written here
}

// rule finds one kind of secret. What stands before the secret stays in the text: only the
// secret is ever held back.
type rule struct {
	name  string
	marks []string // see literal.Expand
	exact bool     // the marks are case-sensitive
	token bool     // the mark is part of the secret, which follows no letter or digit

	// begins tells from the text that ends with the mark whether it is what it seems; nil: always.
	begins func(before []byte) bool

	// head reads what follows the mark up to the first byte of the secret, where it leaves the
	// cursor, and returns how the secret ends; the zero value when there is none.
	head func(c *cursor, before []byte) value

	word *word // the credential word that this is the rule of

	examples []example
}

// example is a text that a rule looks at, and what becomes of it. An empty out says that it stays as
// it is.
type example struct{ in, out string }

// value is a secret that is being dropped. end returns how many bytes at the cursor belong
// to it and whether it ends there; bytes that it cannot judge yet are shown again.
//
// What a decision looks at and leaves in the text must look the same once other rules have
// redacted it, or redacting twice would take more away.
type value struct {
	end     func(v *value, c *cursor) (n int, done bool)
	quote   byte // closing quote, or bracket of a bare value
	escapes int  // number of backslashes before it
	depth   int  // open brackets, or columns before the key of a block
	inside  bool // a string within the brackets
	hash    bool // a bare value may end with dots
	begun   bool // something of a bare value came: from here on a tag ends it
	skip    int  // bytes after the value that stay and hold no other secret
}

// engine finds secrets in a stream. It is in one of three states: looking for a mark, judging
// the head after a mark, dropping a value.
type engine struct {
	state  literal.State  // of the automaton
	ends   []literal.Mark // marks that ended and were not judged yet
	rule   *rule          // whose head is being judged
	mark   int            // length of its mark
	value  value          // being dropped when value.end is not nil
	buf    []byte         // input that is not decided yet
	pos    int            // bytes of buf that were looked at already
	sent   int            // bytes of buf that were kept already
	before [lookBehind]byte
	seen   int // bytes in before
	watch  *watch
	off    bool   // no rule finds anything in this text
	ahead  cursor // kept here so that it needs no allocation
}

// step takes the next piece of the input; at eof everything is decided.
func (e *engine) step(s sink, src []byte, eof bool) {
	if e.off || e.watch.all() {
		if len(src) > 0 {
			s.keep(src)
		}
		if eof {
			e.reset()
		}
		return
	}
	data, pos, sent := src, 0, 0
	if len(e.buf) > 0 {
		e.buf = append(e.buf, src...)
		data, pos, sent = e.buf, e.pos, e.sent
	}
	keep := func(to int) {
		if to > sent {
			s.keep(data[sent:to])
			sent = to
		}
	}
	for {
		if e.value.end != nil {
			e.ahead = cursor{data: data[pos:], eof: eof}
			n, done := e.value.end(&e.value, &e.ahead)
			if pos += n; pos > sent {
				s.drop(pos - max(sent, pos-n))
				sent = pos
			}
			if !done {
				break
			}
			if n := e.value.skip; n > 0 {
				e.remember(data[pos : pos+n])
				pos += n
				keep(pos)
			}
			e.value = value{}
			continue
		}
		if e.rule != nil {
			c := &e.ahead
			*c = newCursor(data[pos:], maxHead, eof)
			v := e.rule.head(c, e.before[:e.seen])
			token, name := e.rule.token, e.rule.name
			if c.short {
				if keep(pos - e.mark); !token && !e.contested() {
					keep(pos + marks.Clear(e.state, data[pos:pos+c.safe]))
				}
				break
			}
			if e.rule = nil; v.end == nil {
				continue
			}
			if token {
				start := max(sent, pos-e.mark)
				keep(start)
				s.drop(pos - start)
				sent = pos
				e.seen -= min(e.seen, e.mark)
			}
			keep(pos + c.i)
			e.remember(data[pos : pos+c.i])
			e.remember([]byte(Mark))
			pos += c.i
			s.mark()
			e.watch.note(name)
			e.value, e.state, e.ends = v, 0, nil
			continue
		}
		if e.judge() {
			continue
		}
		state, n, found := marks.Find(e.state, data[pos:])
		e.remember(data[pos : pos+n])
		e.state = state
		pos += n
		if found {
			e.ends = marks.Ends(state)
			continue
		}
		if eof {
			keep(pos)
		} else {
			keep(pos - marks.Held(state, e.before[:e.seen]))
		}
		break
	}
	e.ahead.data = nil
	from := min(pos, sent)
	e.buf, e.pos, e.sent = append(e.buf[:0], data[from:]...), pos-from, sent-from
	if eof {
		e.reset()
	}
}

// follow makes what comes next go on after p, which was written already.
func (e *engine) follow(p []byte) {
	e.step(discard{}, p, false)
	e.sent = len(e.buf)
}

// discard is a sink for what was written already.
type discard struct{}

func (discard) keep([]byte) {}
func (discard) drop(int)    {}
func (discard) mark()       {}

// judge begins to judge the next of the marks that ended and reports whether there was one.
func (e *engine) judge() bool {
	for len(e.ends) > 0 {
		m := e.ends[0]
		e.ends = e.ends[1:]
		if e.fits(m, e.before[:e.seen]) {
			e.rule, e.mark = marked[m.Rule], len(m.Text)
			return true
		}
	}
	return false
}

// fits reports whether a mark is what it seems, by the text before its end.
func (e *engine) fits(m literal.Mark, before []byte) bool {
	r := marked[m.Rule]
	switch {
	case r.exact && !bytes.HasSuffix(before, []byte(m.Text)):
		return false
	case r.token && !literal.Apart(before, len(m.Text)):
		return false
	}
	return (r.begins == nil || r.begins(before)) && !e.watch.leaves(r.name)
}

// contested reports whether another rule may find a secret where one is being judged.
func (e *engine) contested() bool {
	return slices.ContainsFunc(e.ends, func(m literal.Mark) bool { return e.fits(m, e.before[:e.seen]) })
}

// reset makes the engine forget everything.
func (e *engine) reset() { *e = engine{buf: e.buf[:0], watch: e.watch} }

// held is the input that was neither kept nor dropped yet.
func (e *engine) held() []byte { return e.buf[e.sent:] }

// live reports whether a secret may have begun.
func (e *engine) live() bool { return e.rule != nil || e.value.end != nil || len(e.held()) > 0 }

// remember adds to the output that the rules can look back at.
func (e *engine) remember(p []byte) {
	if len(p) >= lookBehind {
		e.seen = copy(e.before[:], p[len(p)-lookBehind:])
		return
	}
	if over := e.seen + len(p) - lookBehind; over > 0 {
		copy(e.before[:], e.before[over:e.seen])
		e.seen -= over
	}
	e.seen += copy(e.before[e.seen:], p)
}
