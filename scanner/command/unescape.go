package command

import (
	"strconv"
	"strings"
)

// notYet stands in a text for what is only known when the program runs.
const notYet = "\x1a"

// resolveEscape writes what the escape at the beginning of a text stands for and returns the length
// of the escape. Shells, Python and JavaScript agree on most; an unknown one stands for itself.
func resolveEscape(b *strings.Builder, text string) int {
	if len(text) < 2 {
		b.WriteString(text)
		return len(text)
	}
	switch c := text[1]; c {
	case '\n':
		return 2
	case 'n', 't', 'r', 'a', 'b', 'f', 'v', 'e', 'E':
		b.WriteByte("\n\t\r\a\b\f\v\x1b\x1b"[strings.IndexByte("ntrabfveE", c)])
		return 2
	case '\\', '\'', '"', '`', '?', '/':
		b.WriteByte(c)
		return 2
	case 'x':
		return numeral(b, text, 2, 2, 16)
	case 'u', 'U':
		if strings.HasPrefix(text[2:], "{") {
			n := numeral(b, text, 3, 6, 16)
			if n < len(text) && text[n] == '}' {
				n++
			}
			return n
		}
		return numeral(b, text, 2, map[byte]int{'u': 4, 'U': 8}[c], 16)
	case '0', '1', '2', '3', '4', '5', '6', '7':
		if c == '0' && len(text) > 4 {
			return numeral(b, text, 1, 4, 8) // \0NNN of echo and printf
		}
		return numeral(b, text, 1, 3, 8)
	}
	b.WriteString(text[:2])
	return 2
}

// numeral writes the character whose number has at most so many digits from there on.
func numeral(b *strings.Builder, text string, from, digits, base int) int {
	end := from
	for end < len(text) && end < from+digits {
		if _, err := strconv.ParseUint(text[end:end+1], base, 8); err != nil {
			break
		}
		end++
	}
	n, err := strconv.ParseUint(text[from:end], base, 32)
	switch {
	case err != nil:
		b.WriteString(text[:from])
	case n < 0x100 && text[1] != 'u' && text[1] != 'U':
		b.WriteByte(byte(n))
	default:
		b.WriteRune(rune(n))
	}
	return end
}
