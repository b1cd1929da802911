package inject

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/internal/text"
)

// invisibles is a run of characters without a look.
type invisibles struct {
	before, after rune // what stands around the run, 0 for nothing
	n             int
	first         rune
	only          bool // all are the first
	overrides     bool // of the direction of text
	embeds        bool // text of the other direction
	tags          int
	selectors     int
}

// scanInvisible finds runs of characters that cannot be seen. Confidence is high where they hide
// something: within a word of an alphabet that has no use for them, where they are many, where
// they turn the direction of text that has none to be turned, where tags or selectors spell
// something. Emoji, joiners of Persian and Indic scripts, a byte order mark, the narrow space of
// French and soft hyphens are none of that.
func scanInvisible(found []scanner.Finding, s string, bytes *planes, wide spans) []scanner.Finding {
	if len(wide) == 0 {
		return found
	}
	turns := sync.OnceValue(func() bool { return rightToLeft(s) })
	for _, p := range wide {
		p = p.in(s)
		for i := bytes.next(wides, p.start); i < p.end && len(found) < maxFindings/2; i = bytes.next(wides, i) {
			if i += dull(s[i:p.end]); i >= p.end || s[i] < utf8.RuneSelf {
				continue
			}
			r, size := utf8.DecodeRuneInString(s[i:])
			if !text.Unseen(r) {
				i += size
				continue
			}
			before, _ := utf8.DecodeLastRuneInString(s[:i])
			if i == 0 {
				before = 0
			}
			start, run := i, invisibles{before: before, first: r, only: true}
			for i < len(s) {
				if r, size = utf8.DecodeRuneInString(s[i:]); !text.Unseen(r) {
					run.after = r
					break
				}
				run.count(r)
				i += size
			}
			if run.ordinary() {
				continue
			}
			f := scanner.Finding{Category: scanner.InvisibleCharacters, Rule: "invisible", Confidence: scanner.Low, Start: start, End: i, View: scanner.ViewText}
			if run.hides(turns) {
				f.Confidence = scanner.High
			}
			found = append(found, f)
		}
	}
	return found
}

func (v *invisibles) count(r rune) {
	v.n++
	v.only = v.only && r == v.first
	v.overrides = v.overrides || r == 0x202d || r == 0x202e
	v.embeds = v.embeds || r == 0x202b || r == 0x2067
	if text.IsTag(r) {
		v.tags++
	}
	if text.IsSelector(r) {
		v.selectors++
	}
}

// ordinary reports whether the run belongs to the character before it, as the selector of an
// emoji, of a keycap or of an ideograph does, and the tags of a flag.
func (v *invisibles) ordinary() bool {
	switch {
	case v.tags > 0:
		return v.before == 0x1f3f4 && v.tags == v.n && v.n < 8
	case v.selectors == 1 && v.n <= 2:
		return v.before >= 0x203c && !unicode.In(v.before, unicode.Latin, unicode.Cyrillic, unicode.Greek) ||
			'0' <= v.before && v.before <= '9' || v.before == '#' || v.before == '*' || v.before == 0xa9 || v.before == 0xae
	}
	return false
}

// rightToLeft reports whether the text has letters that are written from the right.
func rightToLeft(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return r >= 0x590 && unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana)
	})
}

// hides reports whether the run hides something; turns tells whether its text has letters that are
// written from the right.
func (v *invisibles) hides(turns func() bool) bool {
	switch {
	case v.overrides, v.tags > 0, v.n >= 8, v.selectors > 1, v.embeds && !turns():
		return true
	case v.first == 0xad && v.only, v.first == 0x202f && v.only:
		return false
	}
	return alphabetic(v.before) && alphabetic(v.after)
}

// alphabetic reports whether the letter is of an alphabet that joins nothing.
func alphabetic(r rune) bool {
	return unicode.IsLetter(r) && unicode.In(r, unicode.Latin, unicode.Cyrillic, unicode.Greek)
}
