package inject

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/internal/text"
)

// minJoined is how many letters a run needs to be read as words without spaces.
const minJoined = 20

// decode looks at the runs of a view that may be base64, hex or words that are not set apart.
func (s *scan) decode(v *view, l *level) {
	done := 0
	for _, p := range l.marks.runs {
		if p.start < done {
			continue
		}
		end, wrapped := runAt(v.text, p.start)
		if done = end; !s.known(v, end) && !l.plain.covers(span{p.start, end}) {
			s.decodeRun(v, span{p.start, end}, wrapped)
		}
	}
}

// runAt returns the end of the run of letters, digits and code at i. One that fills its line goes
// on with the next; wrapped says so.
func runAt(text string, i int) (end int, wrapped bool) {
	line := i
	for end = i; end < len(text); {
		if kinds[text[end]]&kRun != 0 {
			end++
			continue
		}
		next := end
		for next < len(text) && (text[next] == '\n' || text[next] == '\r') {
			next++
		}
		if next == end || end-line < 40 || next == len(text) || kinds[text[next]]&kRun == 0 {
			break
		}
		end, line, wrapped = next, next, true
	}
	return end, wrapped
}

// decodeRun looks at what a run hides.
func (s *scan) decodeRun(v *view, p span, wrapped bool) {
	run := v.text[p.start:p.end]
	d := s.draft(v, p)
	if d.hex(run) {
		s.look(d.decoded(scanner.ViewHex, v, p))
		return
	}
	if d.base64(run) {
		s.look(d.decoded(scanner.ViewBase64, v, p))
		return
	}
	if strings.IndexByte(run, '=') >= 0 { // key=value
		for part := range strings.SplitSeq(run, "=") {
			if d := s.draft(v, p); d.base64(part) {
				s.look(d.decoded(scanner.ViewBase64, v, p))
			}
		}
	}
	if !wrapped && countLetters(run) >= minJoined {
		s.join(v.part(scanner.ViewJoined, p))
	}
}

// countLetters counts the bytes that are letters or may stand for some.
func countLetters(run string) (n int) {
	for i := range len(run) {
		if text.Is(leetBytes[run[i]], text.Letter) {
			n++
		}
	}
	return n
}

// hex decodes digits of base 16 that are text.
func (d *draft) hex(run string) bool {
	run = strings.TrimPrefix(run, "0x")
	var r reader
	d.text = d.text[:0]
	half, high := false, byte(0)
	for i := range len(run) {
		b := run[i]
		if !isHex(b) {
			if b == '\n' || b == '\r' {
				continue
			}
			return false
		}
		if half = !half; half {
			high = digitOf(b)
			continue
		}
		d.text = append(d.text, high<<4|digitOf(b))
		if len(d.text)%reads == 0 && !r.reads(d.text, false) {
			return false
		}
	}
	return !half && r.reads(d.text, true)
}

// code is what the letters of base64 stand for, in both alphabets; 0xff: nothing.
var code = func() (t [256]byte) {
	for i := range t {
		t[i] = 0xff
	}
	for i, b := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		t[b] = byte(i)
	}
	t['-'], t['_'] = t['+'], t['/']
	return t
}()

// base64 decodes base64 of either alphabet that is text.
func (d *draft) base64(run string) bool {
	run = strings.TrimRight(run, "=")
	if len(run) < 8 {
		return false
	}
	var r reader
	d.text = d.text[:0]
	bits, n := uint32(0), 0
	for i := range len(run) {
		six := code[run[i]]
		if six == 0xff {
			if run[i] == '\n' || run[i] == '\r' {
				continue
			}
			return false
		}
		if bits, n = bits<<6|uint32(six), n+1; n%4 == 0 {
			d.text = append(d.text, byte(bits>>16), byte(bits>>8), byte(bits))
			if n%(4*reads/3) == 0 && !r.reads(d.text, false) {
				return false
			}
		}
	}
	switch n % 4 {
	case 2:
		d.text = append(d.text, byte(bits>>4))
	case 3:
		d.text = append(d.text, byte(bits>>10), byte(bits>>2))
	}
	return r.reads(d.text, true)
}

// reads is how many decoded bytes are looked at at once.
const reads = 12

// reader tells text from chance, as it is decoded.
type reader struct {
	done, good, all int
}

// reads reports whether the bytes may be text, or, at the end, are.
func (r *reader) reads(p []byte, end bool) bool {
	for r.done < len(p) {
		if b := p[r.done]; b < utf8.RuneSelf {
			r.done++
			if r.all++; b >= ' ' && b < 0x7f || b == '\n' || b == '\t' || b == '\r' {
				r.good++
			}
			continue
		}
		if !end && !utf8.FullRune(p[r.done:]) {
			break
		}
		c, size := utf8.DecodeRune(p[r.done:])
		if c == utf8.RuneError && size == 1 {
			return false
		}
		r.done += size
		if r.all++; unicode.IsPrint(c) || text.Unseen(c) {
			r.good++
		}
	}
	return !end || len(p) >= 6 && r.good*20 >= r.all*19
}

// decodeFields looks at bytes that are written as hex or binary numbers.
func (s *scan) decodeFields(v *view, p span) {
	d := s.draft(v, p)
	start, last := p.start, p.start
	flush := func() {
		var r reader
		if len(d.text) >= 8 && r.reads(d.text, true) {
			s.look(d.decoded(scanner.ViewHex, v, span{start, last}))
		}
		d = s.draft(v, p)
	}
	for i := p.start; i < p.end; {
		for i < p.end && text.Is(v.text[i], text.Space) {
			i++
		}
		from := i
		for i < p.end && !text.Is(v.text[i], text.Space) {
			i++
		}
		b, ok := octet(v.text[from:i])
		if !ok {
			if len(d.text) > 0 {
				flush()
			}
			continue
		}
		if len(d.text) == 0 {
			start = from
		}
		d.text, last = append(d.text, b), i
	}
	flush()
}

// octet reads a byte as two digits of base 16 or eight of base 2.
func octet(s string) (byte, bool) {
	s = strings.TrimPrefix(strings.Trim(s, `,'"`+"`"), "0x")
	switch len(s) {
	case 2:
		r, ok := hexAt(s, 0, 2)
		return byte(r), ok
	case 8:
		b := byte(0)
		for i := range len(s) {
			if s[i] != '0' && s[i] != '1' {
				return 0, false
			}
			b = b<<1 | (s[i] - '0')
		}
		return b, true
	}
	return 0, false
}
