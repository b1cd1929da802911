package device

import (
	"bytes"
	"strings"

	"github.com/svc-gateway/svc/internal/plaintext"
)

// plain makes text of what a terminal would show: pagers and prompts erase what they wrote with carriage
// returns, backspaces and escape sequences.
func plain(raw []byte) string {
	var b strings.Builder
	for line := range bytes.Lines(raw) {
		text, ended := bytes.CutSuffix(line, []byte{'\n'})
		b.Write(bytes.TrimRight(shown(text), " "))
		if ended {
			b.WriteByte('\n')
		}
	}
	return plaintext.Clean([]byte(b.String()))
}

// shown is one line as a terminal shows it.
func shown(line []byte) []byte {
	out, at := make([]byte, 0, len(line)), 0
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case '\r':
			at = 0
		case '\b':
			at = max(at-1, 0)
		case 0, 7:
		case 0x1b:
			end, erases := sequence(line[i:])
			if erases {
				out = out[:at]
			}
			i += end - 1
		default:
			if at < len(out) {
				out[at] = c
			} else {
				out = append(out, c)
			}
			at++
		}
	}
	return out
}

// sequence is how long the escape sequence is that a text begins with, and whether it erases the rest of
// the line.
func sequence(text []byte) (length int, erases bool) {
	if len(text) < 2 || text[1] != '[' {
		return min(len(text), 2), false
	}
	for i := 2; i < len(text); i++ {
		if c := text[i]; c >= 0x40 && c <= 0x7e {
			return i + 1, c == 'K'
		}
	}
	return len(text), false
}
