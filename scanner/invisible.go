package scanner

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// invisible reports whether the character is one of the specification's invisible ones:
// zero-width and joining characters, directional controls, fillers and soft hyphens.
func invisible(r rune) bool {
	switch {
	case r < 0xad:
		return false
	case r == 0xad, r == 0x34f, r == 0x115f, r == 0x1160, r == 0xfeff:
		return true
	case r < 0x200b:
		return false
	}
	return r <= 0x200f || 0x202a <= r && r <= 0x202f || 0x2060 <= r && r <= 0x2064 || 0x2066 <= r && r <= 0x206a
}

// scanInvisible finds runs of invisible characters. They are of high confidence inside of a
// Latin word, where they are many, and where they turn the direction of the text; of low
// confidence elsewhere: joiners in emoji and Indic scripts and a byte order mark are harmless.
func scanInvisible(found []Finding, text string) []Finding {
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		start, n, turns := i, 0, false
		for i < len(text) {
			r, size := utf8.DecodeRuneInString(text[i:])
			if !invisible(r) {
				if n == 0 {
					i += size
				}
				break
			}
			turns = turns || r == 0x202d || r == 0x202e || 0x2066 <= r && r <= 0x2069
			n++
			i += size
		}
		if n == 0 {
			continue
		}
		f := Finding{Category: InvisibleCharacters, Rule: "invisible", Confidence: Low, Start: start, End: i, View: ViewText}
		if turns || n >= 8 || start > 0 && i < len(text) && is(text[start-1], letter) && is(text[i], letter) && text[start:i] != "\u00ad" {
			f.Confidence = High
		}
		if found = append(found, f); len(found) >= maxFindings {
			return found
		}
	}
	return found
}

// visible returns the text with invisible characters written as U+XXXX, at most 120 bytes.
func visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		if b.Len() > 110 {
			b.WriteString("…")
			break
		}
		if invisible(r) || r < ' ' || r == utf8.RuneError {
			fmt.Fprintf(&b, "U+%04X", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
