package provenance

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

const (
	maxText   = 1 << 20 // bytes of text that words are taken from; what follows names nothing
	maxQuoted = 200     // bytes between two quotation marks that count as one word
)

// Words are the identifiers in texts of the user's. The zero value and nil have none.
type Words struct {
	words []string
	kinds sync.Map // Kind → *forms
}

type forms struct {
	once sync.Once
	set  map[string]bool
}

// NewWords takes texts apart. Words are what blanks separate, without the punctuation around them; a
// text in quotation marks with blanks in it is one word.
func NewWords(texts ...string) *Words {
	w := &Words{}
	seen := map[string]bool{}
	room := maxText
	for _, t := range texts {
		if len(t) > room {
			t = whole(t[:room])
		}
		room -= len(t)
		for word := range split(t) {
			if !seen[word] {
				seen[word] = true
				w.words = append(w.words, word)
			}
		}
	}
	return w
}

// whole is text that was cut, without its last word, which may be part of one.
func whole(text string) string {
	return text[:strings.LastIndexFunc(text, unicode.IsSpace)+1]
}

// Name reports whether one of the words is the identifier.
func (w *Words) Name(k Kind, value string) bool {
	want, ok := form(k, value)
	if w == nil || !ok {
		return false
	}
	v, found := w.kinds.Load(k)
	if !found {
		v, _ = w.kinds.LoadOrStore(k, new(forms))
	}
	f := v.(*forms)
	f.once.Do(func() {
		f.set = map[string]bool{}
		for _, word := range w.words {
			for _, got := range named(k, word) {
				f.set[got] = true
			}
		}
	})
	return f.set[want]
}

// named are the identifiers of a kind that a word is.
func named(k Kind, word string) []string {
	if word == "." || word == ".." {
		return nil // the end of a sentence, rather than a folder
	}
	if got, ok := form(k, word); ok && got != "/" { // that stands between words
		return []string{got}
	}
	if k == Host { // a URL names its host
		if u, ok := form(URL, word); ok {
			_, rest, _ := strings.Cut(u, "://")
			authority, _, _ := strings.Cut(rest, "/")
			if got, ok := hostForm(authority[strings.LastIndexByte(authority, '@')+1:]); ok {
				return []string{got}
			}
		}
	}
	return nil
}

// marks are quotation marks with what ends them.
var marks = map[rune]rune{'"': '"', '`': '`', '“': '”', '„': '“', '«': '»', '‹': '›'}

// split yields the words of a text.
func split(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start := -1 // of the word that we are in
		for i := 0; i <= len(text); {
			r, n := utf8.DecodeRuneInString(text[i:])
			if i < len(text) && start < 0 {
				if inner, end := quoted(text[i:], r, n); end > 0 {
					if !yield(inner) {
						return
					}
					i += end
					continue
				}
			}
			switch {
			case i < len(text) && !unicode.IsSpace(r):
				if start < 0 {
					start = i
				}
			case start >= 0:
				if word := bare(text[start:i]); word != "" && !yield(word) {
					return
				}
				start = -1
			}
			if i == len(text) {
				return
			}
			i += n
		}
	}
}

// quoted returns what stands in quotation marks at the beginning of text if there are blanks in it,
// and where the text goes on behind the second mark and the punctuation that follows it.
func quoted(text string, r rune, n int) (inner string, end int) {
	closing, ok := marks[r]
	if !ok {
		return "", 0
	}
	inner, _, ok = strings.Cut(text[n:min(len(text), n+maxQuoted)], string(closing))
	if !ok || !strings.ContainsAny(inner, " \t") || strings.Contains(inner, "\n") {
		return "", 0
	}
	end = n + len(inner) + utf8.RuneLen(closing)
	behind := text[end:]
	if blank := strings.IndexFunc(behind, unicode.IsSpace); blank >= 0 {
		behind = behind[:blank]
	}
	if strings.TrimRight(behind, trailing+closers) != "" {
		return "", 0 // the mark is within a word
	}
	return inner, end + len(behind)
}

const (
	trailing = ".,;:!?…。、，；：！？"
	openers  = "([{<\"'`“”‘’„«»‹›¿¡「『（"
	closers  = ")]}>\"'`”“’‘»«›‹」』）"
)

// pairs are the brackets that may be part of a name when both are.
var pairs = map[rune]rune{'(': ')', '[': ']', '{': '}', '<': '>'}

// bare is a word without the punctuation around it. A bracket whose other half is within the word
// belongs to it, and so do one or two dots behind a slash.
func bare(word string) string {
	if word[0] < utf8.RuneSelf && strings.IndexByte(openers, word[0]) < 0 && alnum(word[len(word)-1]) {
		return word
	}
	for word != "" {
		first, n := utf8.DecodeRuneInString(word)
		last, m := utf8.DecodeLastRuneInString(word)
		switch {
		case strings.HasSuffix(word, "..."):
			word = strings.TrimRight(word, ".")
		case word == "." || word == ".." || strings.HasSuffix(word, "/.") || strings.HasSuffix(word, "/.."):
			return word
		case strings.ContainsRune(trailing, last):
			word = word[:len(word)-m]
		case len(word) > n && pairs[first] == last && !strings.ContainsRune(word[n:len(word)-m], first) && !strings.ContainsRune(word[n:len(word)-m], last):
			word = word[n : len(word)-m]
		case strings.ContainsRune(openers, first) && !strings.ContainsRune(word[n:], other(first)):
			word = word[n:]
		case strings.ContainsRune(closers, last) && !strings.ContainsRune(word[:len(word)-m], other(last)):
			word = word[:len(word)-m]
		default:
			return word
		}
	}
	return ""
}

// other is the other half of a bracket; for quotation marks a blank, which is in no word.
func other(r rune) rune {
	for open, end := range pairs {
		switch r {
		case open:
			return end
		case end:
			return open
		}
	}
	return ' '
}
