package inject

import (
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/internal/text"
)

// minJoined is how many letters a run needs to be read as words without spaces.
const minJoined = 20

// decode makes views of the runs of a view that may be base64, hex, binary numbers or words that
// are not set apart.
func (s *scan) decode(v *view) {
	s.decodeFields(v)
	for i := 0; i < len(v.text); {
		if kinds[v.text[i]]&(kLetter|kDigit|kCode) == 0 {
			i++
			continue
		}
		end, wrapped := runAt(v.text, i)
		if end-i >= minCode {
			s.decodeRun(v, i, end, wrapped)
		}
		i = end
	}
}

// runAt returns the end of the run of letters, digits and code at i. One that fills its line goes
// on with the next; wrapped says so.
func runAt(text string, i int) (end int, wrapped bool) {
	line := i
	for end = i; end < len(text); {
		if kinds[text[end]]&(kLetter|kDigit|kCode) != 0 {
			end++
			continue
		}
		next := end
		for next < len(text) && (text[next] == '\n' || text[next] == '\r') {
			next++
		}
		if next == end || end-line < 40 || next == len(text) || kinds[text[next]]&(kLetter|kDigit|kCode) == 0 {
			break
		}
		end, line, wrapped = next, next, true
	}
	return end, wrapped
}

// decodeRun makes a view of what a run hides.
func (s *scan) decodeRun(v *view, start, end int, wrapped bool) {
	run := v.text[start:end]
	if wrapped {
		run = strings.Join(strings.Fields(run), "")
	}
	if text, ok := fromHex(run); ok {
		s.push(v.decoded(scanner.ViewHex, text, start, end))
		return
	}
	if text, ok := fromBase64(run); ok {
		s.push(v.decoded(scanner.ViewBase64, text, start, end))
		return
	}
	if strings.Contains(run, "=") { // key=value
		for part := range strings.SplitSeq(run, "=") {
			if text, ok := fromBase64(part); ok {
				s.push(v.decoded(scanner.ViewBase64, text, start, end))
			}
		}
	}
	if !wrapped && !v.joined && letters(run) >= minJoined {
		d := newDraft(v, end-start)
		for i := start; i < end; i++ {
			d.write(i, v.text[i])
		}
		j := d.view(scanner.ViewJoined, end, 0)
		j.joined = true
		s.push(j)
	}
}

// letters counts the bytes that are letters or may stand for some.
func letters(run string) (n int) {
	for i := range len(run) {
		if text.Is(foldLeet(run[i]), text.Letter) {
			n++
		}
	}
	return n
}

// fromHex decodes digits of base 16 that are text.
func fromHex(run string) (string, bool) {
	run = strings.TrimPrefix(run, "0x")
	p, err := hex.DecodeString(run)
	return string(p), err == nil && readable(p)
}

// fromBase64 decodes base64 of either alphabet that is text.
func fromBase64(run string) (string, bool) {
	run = strings.TrimRight(run, "=")
	if len(run) < 8 {
		return "", false
	}
	if len(run)%4 == 1 {
		run = run[:len(run)-1]
	}
	code := base64.RawStdEncoding
	if strings.ContainsAny(run, "-_") {
		code = base64.RawURLEncoding
	}
	p, err := code.DecodeString(run)
	return string(p), err == nil && readable(p)
}

// readable reports whether the bytes are text rather than chance.
func readable(p []byte) bool {
	if !utf8.Valid(p) || len(p) < 6 {
		return false
	}
	good, all := 0, 0
	for _, r := range string(p) {
		if all++; r == '\n' || r == '\t' || r == '\r' || r >= ' ' && unicode.IsPrint(r) || text.Unseen(r) {
			good++
		}
	}
	return good*20 >= all*19
}

// decodeFields makes views of runs of bytes that are written as hex or binary numbers.
func (s *scan) decodeFields(v *view) {
	var p []byte
	start, last := 0, 0
	flush := func() {
		if len(p) >= 8 && readable(p) {
			s.push(v.decoded(scanner.ViewHex, string(p), start, last))
		}
		p = p[:0]
	}
	for i := 0; i < len(v.text); {
		for i < len(v.text) && text.Is(v.text[i], text.Space) {
			i++
		}
		from := i
		for i < len(v.text) && !text.Is(v.text[i], text.Space) {
			i++
		}
		b, ok := octet(strings.Trim(v.text[from:i], `,'"`))
		if !ok {
			flush()
			continue
		}
		if len(p) == 0 {
			start = from
		}
		p, last = append(p, b), i
	}
	flush()
}

// octet reads a byte as two digits of base 16 or eight of base 2.
func octet(s string) (byte, bool) {
	base := 16
	switch s = strings.TrimPrefix(s, "0x"); len(s) {
	case 2:
	case 8:
		base = 2
	default:
		return 0, false
	}
	n, err := strconv.ParseUint(s, base, 8)
	return byte(n), err == nil
}
