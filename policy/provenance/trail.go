package provenance

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxRead     = 4 << 20 // bytes of untrusted text that are searched
	maxFragment = 160     // bytes
	maxLooks    = 100     // words of a text that are looked at for one target
	maxTargets  = 256     // of a call
)

// Text is a text that did not come from the user.
type Text struct {
	Source string // its label, such as tool:read_file
	Text   string
}

// Trail is what was said and read before a call.
type Trail struct {
	Said *Words // the user's own words
	Read []Text // the texts of others, oldest first
}

// Trace returns the targets with their sources. The user's words come first: what is in them is the
// user's, whatever else names it. Of more than 256 targets, the rest is one that nobody can name.
func (t Trail) Trace(targets []Target) []Target {
	if len(targets) == 0 {
		return nil
	}
	all := make([]Target, 0, min(len(targets), maxTargets+1))
	for i, g := range targets {
		if i == maxTargets {
			return append(all, Target{Argument: g.Argument, Kind: Unknown, Source: SourceUnknown})
		}
		g.Source, g.Fragment = t.source(g)
		all = append(all, g)
	}
	return all
}

func (t Trail) source(g Target) (source, fragment string) {
	if t.Said.Name(g.Kind, g.Value) {
		return SourceUser, ""
	}
	for _, name := range g.Same {
		if t.Said.Name(g.Kind, name) {
			return SourceUser, ""
		}
	}
	room := maxRead
	for _, text := range t.Read {
		if room -= len(text.Text); room < 0 {
			break
		}
		if at, end, ok := find(text.Text, g); ok {
			return text.Source, excerpt(text.Text, at, end)
		}
	}
	return SourceUnknown, ""
}

// find returns where a text names the target. It looks at the words that hold the longest run of letters
// and digits of its value as it is written there: a text that writes it in another way is not found, and
// the target's source is unknown then.
func find(text string, g Target) (at, end int, ok bool) {
	for _, name := range append([]string{g.Value}, g.Same...) {
		want, valid := form(g.Kind, name)
		piece := longest(name)
		if !valid || piece == "" {
			continue
		}
		from := 0
		for range maxLooks {
			i := strings.Index(text[from:], piece)
			if i < 0 {
				break
			}
			at, end = around(text, from+i, strings.ContainsFunc(name, unicode.IsSpace))
			for word := range split(text[at:end]) {
				if slices.Contains(named(g.Kind, word), want) {
					return at, end, true
				}
			}
			from = max(end, from+i+len(piece))
		}
	}
	return 0, 0, false
}

// around returns the bounds of the word at a place of a text, or of the line when names have blanks.
func around(text string, at int, blanks bool) (from, to int) {
	ends := func(r rune) bool { return r == '\n' || !blanks && unicode.IsSpace(r) }
	to = len(text)
	if i := strings.LastIndexFunc(text[:at], ends); i >= 0 {
		_, n := utf8.DecodeRuneInString(text[i:])
		from = i + n
	} else {
		from = 0
	}
	if i := strings.IndexFunc(text[at:], ends); i >= 0 {
		to = at + i
	}
	return from, to
}

// longest is the longest run of letters and digits in a value, the last of several.
func longest(value string) string {
	var best string
	start := 0
	for i := 0; i <= len(value); i++ {
		if i < len(value) && alnum(value[i]) {
			continue
		}
		if i > start && i-start >= len(best) {
			best = value[start:i]
		}
		start = i + 1
	}
	return best
}

func alnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// excerpt is the text around a word, on one line.
func excerpt(text string, at, end int) string {
	if end-at >= maxFragment {
		return line(text[at : at+maxFragment])
	}
	around := (maxFragment - (end - at)) / 2
	return line(text[max(0, at-around):min(len(text), end+around)])
}

// line makes a piece of text safe to show: whole characters, no control characters, and one blank where
// there are several.
func line(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError:
			return -1
		case unseen(r):
			return ' '
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}
