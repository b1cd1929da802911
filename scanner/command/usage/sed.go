package usage

import "strings"

// checkSed reads the scripts of sed: those that only print, change what is printed and read files.
func checkSed(p *parsed) string {
	given := false
	for _, g := range p.options {
		if g.name == "-e" || g.name == "--expression" {
			given = true
			if !g.value.Fixed || !sedReads(g.value.Text) {
				p.word = g.word
				return "the script of sed is not known to only print"
			}
		}
	}
	if given {
		return ""
	}
	if len(p.operands) == 0 {
		return "sed has no script"
	}
	if w := p.words[p.operands[0]]; !w.Fixed || !sedReads(w.Text) {
		p.word = p.operands[0]
		return "the script of sed is not known to only print"
	}
	return ""
}

// sedScript reads a script from its start.
type sedScript struct {
	text string
	bad  bool
}

// sedReads reports whether each command of a script is known, and neither writes files nor runs commands. A
// script that versions of sed may read differently does not.
func sedReads(script string) bool {
	s := sedScript{text: script}
	depth := 0
	for !s.bad {
		s.skip(" \t\n;")
		if s.text == "" {
			return depth == 0
		}
		s.address()
		s.skip(" \t")
		if strings.HasPrefix(s.text, ",") {
			s.text = s.text[1:]
			s.skip(" \t")
			s.skip("+~")
			s.address()
			s.skip(" \t")
		}
		s.skip("! \t")
		switch c := s.next(); c {
		case '{':
			depth++
			continue
		case '}':
			depth--
		case 'p', 'P', 'd', 'D', 'n', 'N', '=', 'h', 'H', 'g', 'G', 'x', 'z', 'F':
		case 'l', 'q', 'Q', 'L':
			s.skip(" \t")
			s.skip("0123456789")
		case 'b', 't', 'T':
			s.skip(" \t")
			s.skip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
		case ':':
			s.skip(" \t")
			before := s.text
			s.skip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
			s.bad = s.bad || before == s.text
		case 'a', 'i', 'c', 'r', 'R', '#': // the rest of the line is a text or a name
			if strings.Contains(s.text, "\\\n") {
				return false
			}
			_, s.text, _ = strings.Cut(s.text, "\n")
			continue
		case 's':
			s.parts(2)
			s.skip("gpiImM0123456789")
		case 'y':
			s.parts(2)
		default:
			return false
		}
		s.skip(" \t")
		if s.text != "" && strings.IndexByte(";\n}#", s.text[0]) < 0 || depth < 0 {
			return false
		}
	}
	return false
}

func (s *sedScript) skip(set string) { s.text = strings.TrimLeft(s.text, set) }

func (s *sedScript) next() (c byte) {
	if s.text != "" {
		c, s.text = s.text[0], s.text[1:]
	}
	return c
}

// address reads a line number, $ or an expression.
func (s *sedScript) address() {
	switch {
	case s.text == "":
	case s.text[0] == '$':
		s.text = s.text[1:]
	case s.text[0] >= '0' && s.text[0] <= '9':
		s.skip("0123456789~")
	case s.text[0] == '/':
		s.parts(1)
		s.skip("IM")
	case s.text[0] == '\\':
		s.text = s.text[1:]
		s.parts(1)
		s.skip("IM")
	}
}

// parts reads what stands between n+1 of the delimiter that comes next.
func (s *sedScript) parts(n int) {
	mark := s.next()
	if mark == 0 || mark == '\n' || mark == '\\' || mark == ';' || mark == ' ' {
		s.bad = true
		return
	}
	for range n {
		end, bracket := -1, false
	scan:
		for i := 0; i < len(s.text); i++ {
			switch s.text[i] {
			case mark:
				end = i
				break scan
			case '\\':
				i++
			case '[':
				bracket = true
			case '\n':
				s.bad = true
				return
			}
		}
		if end < 0 {
			s.bad = true
			return
		}
		// In brackets a delimiter is none to some versions of sed.
		if bracket && openBracket(s.text[:end]) {
			s.bad = true
			return
		}
		s.text = s.text[end+1:]
	}
}

// openBracket reports whether a bracket expression of a pattern does not end within it.
func openBracket(pattern string) bool {
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '[':
			rest := strings.TrimPrefix(pattern[i+1:], "^")
			start := len(pattern) - len(rest)
			if strings.HasPrefix(rest, "]") {
				rest = rest[1:]
				start++
			}
			for {
				class := strings.Index(rest, "[:")
				end := strings.IndexByte(rest, ']')
				if end < 0 {
					return true
				}
				if class >= 0 && class < end {
					stop := strings.Index(rest[class:], ":]")
					if stop < 0 {
						return true
					}
					start += class + stop + 2
					rest = rest[class+stop+2:]
					continue
				}
				i = start + end
				break
			}
		}
	}
	return false
}
