package inject

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// The automata of the lexicon, built when they are first needed.
var (
	// plainWords are the words in ASCII. It runs over texts that come in pieces, its finder over whole ones.
	plainWords = sync.OnceValue(func() *dictionary { return newDictionary(withTricks(lexicon(true)), foldCase, true) })
	// wideWords are all other words. It runs over texts that are not ASCII.
	wideWords = sync.OnceValue(func() *dictionary { return newDictionary(lexicon(false), foldCase, false) })
	// leetWords are the words in ASCII, with digits and symbols for letters.
	leetWords = sync.OnceValue(func() *dictionary { return newDictionary(lexicon(true), foldLeet, true) })
	// joinedWords are all words, without the white space around them and within.
	joinedWords = sync.OnceValue(func() *dictionary {
		return newDictionary(joined(slices.Concat(lexicon(true), lexicon(false))), foldLeet, false)
	})
)

// lexicon returns the patterns of all languages whose text is ASCII, or all others.
func lexicon(ascii bool) []pattern {
	return lexiconOf(slices.Concat(english, tongues), ascii)
}

func lexiconOf(entries []entry, ascii bool) []pattern {
	means := make(map[pattern]numbers) // by a pattern without a meaning
	var order []pattern
	for _, e := range entries {
		some := parseConcepts(e.means)
		for word := range strings.SplitSeq(e.words, ",") {
			word = strings.Join(strings.Fields(word), " ")
			stem := strings.HasSuffix(word, "*")
			for _, form := range spellings(strings.TrimSuffix(word, "*")) {
				if isASCII(form) != ascii {
					continue
				}
				key := pattern{text: form, stem: stem, free: joining(form)}
				if _, ok := means[key]; !ok {
					order = append(order, key)
				}
				all := means[key]
				all.unite(&some)
				means[key] = all
			}
		}
	}
	for i, p := range order {
		order[i].means = means[p]
	}
	sortPatterns(order)
	return order
}

// spellings returns the spellings of a word that the automata know: as it is, without accents, with
// a typographic apostrophe; beyond ASCII, where the automata do not fold it, also with a capital
// and in capitals.
func spellings(word string) []string {
	list := []string{word, unaccented(word)}
	if strings.Contains(word, "'") {
		list = append(list, strings.ReplaceAll(word, "'", "’"), strings.ReplaceAll(word, "'", ""))
	}
	for _, w := range list {
		if !isASCII(w) {
			r, size := utf8.DecodeRuneInString(w)
			list = append(list, string(unicode.ToUpper(r))+w[size:], strings.ToUpper(w))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// unaccented removes the accents of Latin letters.
func unaccented(s string) string {
	var b strings.Builder
	base := false
	for _, r := range norm.NFD.String(s) {
		if !unicode.Is(unicode.Mn, r) {
			base = unicode.Is(unicode.Latin, r)
		} else if base {
			continue
		}
		b.WriteRune(r)
	}
	return norm.NFC.String(b.String())
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// joining reports whether the word is of a script that writes words without spaces between, or
// joins them to others, so that nothing can be asked of what stands around it.
func joining(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Arabic, unicode.Hebrew, unicode.Devanagari, unicode.Bengali)
}

// joined makes patterns that find words which are not set apart. Short ones would be found
// everywhere; they only count where they are set apart.
func joined(list []pattern) []pattern {
	var out []pattern
	short := parseConcepts("earlier|your")
	for _, p := range list {
		p.text = strings.ReplaceAll(p.text, " ", "")
		if p.free = true; len(p.text) >= 5 || p.means.meets(&short) && len(p.text) >= 3 || !isASCII(p.text) {
			out = append(out, p)
		}
	}
	sortPatterns(out)
	return out
}

// withTricks adds the telling ones of words in ASCII in rot13 and written backwards. They say that
// a text should be looked at in that way.
func withTricks(list []pattern) []pattern {
	telling := parseConcepts("override|orders|prompt|secret|reveal|must|model|first|told|unbound|private|comply")
	for _, p := range list {
		if !p.means.meets(&telling) || len(p.text) < 5 || strings.Contains(p.text, " ") {
			continue
		}
		list = append(list, pattern{text: text.Rot13(p.text), means: cipherWords, stem: p.stem})
		backwards := []byte(p.text)
		slices.Reverse(backwards)
		list = append(list, pattern{text: string(backwards), means: mirrorWords, stem: true})
	}
	sortPatterns(list)
	return list
}
