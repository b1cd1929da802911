package command

// tokenKind is the kind of a token of a program.
type tokenKind int

const (
	tokenName tokenKind = iota // an identifier or keyword
	tokenString
	tokenNumber
	tokenMark // an operator or bracket
	tokenLine // the end of a line, where it ends a statement
	tokenEnd
)

// codeToken is a token of Python or JavaScript. Comments are none.
type codeToken struct {
	kind       tokenKind
	text       string      // what is written, of a string what it stands for
	holes      []codeToken // the expressions within a string, each ended by a token of kind tokenEnd
	pieces     []string    // of a string with holes: the texts around them, one more than there are holes
	start, end int
}

// is reports whether the token is one of the names or marks.
func (t codeToken) is(texts ...string) bool {
	if t.kind != tokenName && t.kind != tokenMark {
		return false
	}
	for _, text := range texts {
		if t.text == text {
			return true
		}
	}
	return false
}

// brackets follows the brackets of a program, to know which lines end a statement.
type brackets []byte

func (b *brackets) see(c byte) {
	switch c {
	case '(', '[', '{':
		*b = append(*b, c)
	case ')', ']', '}':
		if n := len(*b); n > 0 {
			*b = (*b)[:n-1]
		}
	}
}
