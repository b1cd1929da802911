package text

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Unseen reports whether a character has no look of its own: zero-width and joining characters,
// directional controls, fillers, soft hyphens, variation selectors and tags.
func Unseen(r rune) bool {
	switch {
	case r < 0xad:
		return false
	case r == 0xad, r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160, r == 0x180e, r == 0x3164, r == 0xfeff, r == 0xffa0:
		return true
	case r < 0x200b:
		return false
	case r <= 0x200f, 0x202a <= r && r <= 0x202f, 0x2060 <= r && r <= 0x2064, 0x2066 <= r && r <= 0x206f:
		return true
	}
	return IsSelector(r) || IsTag(r)
}

// IsSelector reports whether a character selects a variation of the one before it.
func IsSelector(r rune) bool { return 0xfe00 <= r && r <= 0xfe0f || 0xe0100 <= r && r <= 0xe01ef }

// IsTag reports whether a character is one of the tags, which once named languages.
func IsTag(r rune) bool { return 0xe0000 <= r && r <= 0xe007f }

// Excerpt returns the text with invisible characters written as U+XXXX, at most 120 bytes: what a
// finding shows of its place.
func Excerpt(text string) string {
	var b strings.Builder
	for _, r := range text {
		if b.Len() > 105 {
			b.WriteString("…")
			break
		}
		if Unseen(r) || r < ' ' || r == utf8.RuneError {
			fmt.Fprintf(&b, "U+%04X", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
