package model

import (
	"unicode"
	"unicode/utf8"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// lexeme is a token as it is read.
type lexeme struct {
	start, end int
	word       []rune // nil: it separates words
	quoted     bool   // the word is in a quotation
	gap        byte   // what separates
}

// maxQuoted is how many tokens a quotation has at most: one mark without another has no effect for long.
const maxQuoted = 24

// maxWord is how many characters of a word are told apart. Those behind them are passed over.
const maxWord = 32

// reader makes lexemes of a text that comes in pieces, one character after the other, so that where
// the text is cut makes no difference.
type reader struct {
	give func(lexeme) // takes each

	pos   int // bytes that were read
	part  [utf8.UTFMax]byte
	parts int // bytes of a character that is not complete

	word  [maxWord]rune
	n     int // characters of the word
	start int // of the word
	end   int
	ascii bool // the word has letters of ASCII
	wide  bool // and others

	joint  bool // an apostrophe has come after the word
	quoted int  // tokens that may still belong to what a quotation mark began
	single bool // that mark was an apostrophe

	gap      byte // what has come since the word before
	gapStart int
	gapEnd   int
	lines    int // ends of lines in it
}

// reset goes to the beginning of another text.
func (r *reader) reset() { *r = reader{give: r.give} }

// read reads the next piece and gives what it completes.
func (r *reader) read(piece string) {
	for r.parts > 0 && len(piece) > 0 {
		r.part[r.parts] = piece[0]
		r.parts++
		piece = piece[1:]
		r.complete(false)
	}
	i := 0
	for i < len(piece) {
		b := piece[i]
		if b >= utf8.RuneSelf {
			c, size := utf8.DecodeRuneInString(piece[i:])
			if c == utf8.RuneError && !utf8.FullRuneInString(piece[i:]) {
				r.parts = copy(r.part[:], piece[i:])
				return
			}
			r.char(c, size)
			i += size
			continue
		}
		if kind := kinds[b]; kind == isLetter && r.n > 0 && r.n < maxWord && !r.joint { // most are
			r.word[r.n] = rune(b | 0x20)
			r.n++
			r.pos++
			r.end = r.pos
			r.ascii = true
		} else {
			r.add(rune(b), kind, 1)
		}
		i++
	}
}

// complete reads the characters of which only a part had come; all of them, when no more comes.
func (r *reader) complete(all bool) {
	part := r.part
	rest := part[:r.parts]
	for len(rest) > 0 && (all || utf8.FullRune(rest)) {
		c, size := utf8.DecodeRune(rest)
		r.char(c, size)
		rest = rest[size:]
	}
	r.parts = copy(r.part[:], rest)
}

// close ends the text.
func (r *reader) close() {
	r.complete(true)
	r.endWord()
	r.endGap()
}

// char reads a character, which has so many bytes, as what it can be written as in ASCII.
func (r *reader) char(c rune, size int) {
	if c < utf8.RuneSelf {
		r.add(c, kinds[c], size)
		return
	}
	if c < inTable {
		if t := simple(); t.kinds[c] != isOther {
			r.add(rune(t.lower[c]), t.kinds[c], size)
			return
		}
	}
	switch {
	case 0xe0020 <= c && c <= 0xe007e: // a tag stands for a character of ASCII
		r.add(c-0xe0000, kinds[c-0xe0000], size)
		return
	case text.Unseen(c), 0x300 <= c && c <= 0x36f:
		r.pos += size
		return
	}
	s, ok := plain(c)
	if !ok {
		r.add(unicode.ToLower(c), kindOf(c), size)
		return
	}
	for i := range len(s) {
		r.add(rune(s[i]), kinds[s[i]], 0)
	}
	r.pos += size
	if r.n > 0 {
		r.end = r.pos
	}
}

// add reads a character of a kind.
func (r *reader) add(c rune, kind byte, size int) {
	switch kind {
	case isLetter, isDigit:
		r.letter(c, kind)
		r.pos += size
		r.end = r.pos
		return
	case isSign:
		r.endWord()
		r.letter(c, kind)
		r.pos += size
		r.end = r.pos
		r.endWord()
		return
	case isJoint:
		if r.n > 0 {
			r.joint = true // in a word, or the end of a quotation
			break
		}
		r.quote(c)
		r.separate(gapQuote, size)
	default:
		r.endWord()
		if kind == gapQuote {
			r.quote(c)
		}
		r.separate(kind, size)
	}
	r.pos += size
}

// quote notes a quotation mark.
func (r *reader) quote(c rune) {
	opens := r.quoted == 0
	switch c {
	case '“', '„', '«', '「', '『':
		opens = true
	case '”', '»', '」', '』':
		opens = false
	}
	r.endGap()
	if r.quoted, r.single = 0, false; opens {
		r.quoted, r.single = maxQuoted+1, c == '\''
	}
}

// letter appends a character to the word. A number is a single digit.
func (r *reader) letter(c rune, kind byte) {
	r.joint = false
	if r.n == 0 {
		r.endGap()
		r.start = r.pos
	}
	switch {
	case kind == isDigit:
		if c = '0'; r.n > 0 && r.word[r.n-1] == '0' {
			return
		}
	case c < utf8.RuneSelf:
		c |= 0x20
		r.ascii = true
	default:
		r.wide = true
	}
	if r.n < maxWord {
		r.word[r.n] = c
		r.n++
	}
}

// separate notes what separates two words.
func (r *reader) separate(kind byte, size int) {
	switch kind {
	case isBlank:
		return
	case isLine:
		if r.lines++; r.lines < 2 {
			return
		}
		kind = gapSentence
		r.quoted = 0
	}
	if r.gap == 0 {
		r.gapStart = r.pos
	}
	r.gap |= kind
	r.gapEnd = r.pos + size
}

// endGap gives what separates two words.
func (r *reader) endGap() {
	if r.gap != 0 {
		r.emit(lexeme{start: r.gapStart, end: r.gapEnd, gap: r.gap})
	}
	r.gap, r.lines = 0, 0
}

// endWord gives the word.
func (r *reader) endWord() {
	if r.n == 0 {
		return
	}
	if r.ascii && r.wide { // letters that only look Latin
		for i, c := range r.word[:r.n] {
			if b, ok := text.Alike(c); ok && c >= utf8.RuneSelf {
				r.word[i] = rune(b)
			}
		}
	}
	r.emit(lexeme{start: r.start, end: r.end, word: r.word[:r.n], quoted: r.quoted > 0})
	if r.joint && r.single { // what ended was a quotation
		r.quoted, r.single = 0, false
	}
	r.n, r.ascii, r.wide, r.joint = 0, false, false, false
}

// emit gives what was read.
func (r *reader) emit(l lexeme) {
	if r.quoted > 0 {
		r.quoted--
	}
	r.give(l)
}
