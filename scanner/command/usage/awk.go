package usage

import (
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// checkAwk reads the program of awk: one that only prints. Its other operands are files and variables.
func checkAwk(p *parsed) string {
	if len(p.operands) == 0 {
		return "awk has no program"
	}
	if w := p.words[p.operands[0]]; !w.Fixed || !awkPrints(w.Text) {
		p.word = p.operands[0]
		return "the program of awk is not known to only print"
	}
	for _, i := range p.operands[1:] {
		if w := p.words[i]; strings.HasPrefix(w.Text, "/inet") {
			p.word = i
			return "awk may read from another host"
		}
	}
	return ""
}

var (
	// awkFunctions neither write nor run anything.
	awkFunctions = text.Words(`length substr index split sub gsub gensub match sprintf sin cos atan2 exp log sqrt int rand srand tolower toupper
		strftime systime mktime asort asorti and or xor lshift rshift compl strtonum typeof isarray patsplit fflush`)
	// awkKeywords are followed by an expression or a statement, in which a slash begins a pattern.
	awkKeywords = text.Words("print printf return in delete exit if while for else do case switch BEGIN END BEGINFILE ENDFILE function func next nextfile break continue default")
)

// awkProgram reads a program of awk token by token.
type awkProgram struct {
	text    string
	i       int
	operand bool   // an operand may come next, so that a slash begins a pattern
	last    string // the token before
	depth   int    // of brackets
	print   int    // the depth of the print statement around, -1 outside of one
}

// awkPrints reports whether a program of awk only prints: no output goes elsewhere, no command is run,
// and no other functions are called than those that are known and its own.
func awkPrints(program string) bool {
	a := awkProgram{text: program, operand: true, print: -1}
	for a.i < len(a.text) {
		if !a.token() {
			return false
		}
	}
	return a.depth == 0
}

// token reads a token and reports whether it is one that only prints.
func (a *awkProgram) token() bool {
	c, rest := a.text[a.i], a.text[a.i:]
	switch {
	case c == ' ' || c == '\t' || c == '\r':
		a.i++
		return true
	case strings.HasPrefix(rest, "\\\n"):
		a.i += 2
		return true
	case c == '#':
		if end := strings.IndexByte(rest, '\n'); end >= 0 {
			a.i += end
		} else {
			a.i = len(a.text)
		}
		return true
	case c == '"':
		return a.quoted(rest)
	case c == '/' && a.operand:
		return a.pattern(rest)
	case letter(c):
		return a.word(rest)
	case c >= '0' && c <= '9' || c == '.':
		return a.took(1, "0", false)
	case c == '|':
		return strings.HasPrefix(rest, "||") && a.took(2, "||", true)
	case strings.HasPrefix(rest, "&&"):
		return a.took(2, "&&", true)
	case strings.HasPrefix(rest, "++") || strings.HasPrefix(rest, "--"):
		return a.took(2, "++", a.operand)
	case c == '>' && a.print == a.depth, c == '@':
		return false
	case c == '(' || c == '[' || c == '{':
		a.depth++
	case c == ')' || c == ']' || c == '}':
		if a.depth--; c == '}' || a.depth < a.print {
			a.print = -1
		}
	case c == ';', c == '\n' && !strings.Contains(",||&&?:", a.last):
		a.print = -1
	}
	if c == '\n' {
		a.i, a.operand = a.i+1, true
		return true
	}
	return a.took(1, rest[:1], c != ')' && c != ']' && c != '$')
}

// took goes on behind a token.
func (a *awkProgram) took(n int, token string, operand bool) bool {
	a.i, a.last, a.operand = a.i+n, token, operand
	return true
}

func (a *awkProgram) quoted(rest string) bool {
	for end := 1; end < len(rest); end++ {
		switch rest[end] {
		case '\\':
			end++
		case '"':
			return !strings.Contains(rest[:end], "/inet") && a.took(end+1, `"`, false)
		}
	}
	return false
}

// pattern reads /…/. A slash in brackets ends it in some versions of awk only.
func (a *awkProgram) pattern(rest string) bool {
	bracket := false
	for end := 1; end < len(rest); end++ {
		switch rest[end] {
		case '\\':
			end++
		case '[':
			bracket = true
		case ']':
			bracket = false
		case '\n':
			return false
		case '/':
			return !bracket && a.took(end+1, "/", false)
		}
	}
	return false
}

func (a *awkProgram) word(rest string) bool {
	n := 1
	for n < len(rest) && (letter(rest[n]) || rest[n] >= '0' && rest[n] <= '9') {
		n++
	}
	word := rest[:n]
	called := strings.HasPrefix(strings.TrimLeft(rest[n:], " \t"), "(")
	switch {
	case word == "print" || word == "printf":
		a.print = a.depth
	case word == "system" || word == "getline" && strings.Contains(a.text, "<"):
		return false
	case called && strings.HasPrefix(rest[n:], "(") && !awkKeywords.HasString(word) && !awkFunctions.HasString(word) && word != "getline" && a.last != "function" && a.last != "func" &&
		!strings.Contains(a.text, "function "+word+"("):
		return false
	}
	return a.took(n, word, awkKeywords.HasString(word))
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }
