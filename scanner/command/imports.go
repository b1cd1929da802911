package command

import "strings"

// imports reads an import of Python or JavaScript.
func (p *codeParser) imports() {
	module := ""
	from := p.peek().is("from")
	p.i++
	if from {
		module = p.module()
		if !p.accept("import") {
			return
		}
	}
	names := make(map[string]string) // local name → imported name, "" for the module itself
	for {
		t := p.peek()
		switch {
		case t.kind == tokenEnd, t.kind == tokenLine && !p.script, t.is(";", "=", "."), t.is("(") && !from:
			p.scope.imported(module, names)
			return
		case t.is("from"):
			p.i++
			if p.peek().kind == tokenString {
				p.scope.imported(strings.TrimPrefix(p.peek().text, "node:"), names)
				p.i++
			}
			return
		case t.kind == tokenString: // import "x", also of Go
			p.i++
		case t.is("*"):
			p.i++
			if p.accept("as") {
				names[p.peek().text] = ""
				p.i++
			} else if from {
				p.scope.stars = append(p.scope.stars, module)
			}
		case t.kind == tokenName && !p.script && !from && !t.is("import", "as"):
			name := p.module()
			if p.accept("as") {
				p.scope.imported(name, map[string]string{p.peek().text: ""})
				p.i++
			} else {
				first, _, _ := strings.Cut(name, ".")
				p.scope.imported(first, map[string]string{first: ""})
			}
		case t.kind == tokenName:
			p.i++
			local, braces := t.text, from || p.inBraces()
			if p.accept("as") {
				local = p.peek().text
				p.i++
			}
			if names[local] = ""; braces {
				names[local] = t.text
			}
		default:
			p.i++
		}
	}
}

// inBraces reports whether the token before the one just taken opens or continues a list of names.
func (p *codeParser) inBraces() bool {
	for i := p.i - 1; i >= 0 && !p.tokens[i].is("import"); i-- {
		if p.tokens[i].is("{") {
			return true
		}
	}
	return false
}

// module reads a dotted name.
func (p *codeParser) module() string {
	var b strings.Builder
	for {
		t := p.peek()
		if t.kind != tokenName && !t.is(".") || t.is("import", "as") {
			return b.String()
		}
		b.WriteString(t.text)
		p.i++
		if t.kind == tokenName && !p.peek().is(".") {
			return b.String()
		}
	}
}

// imported binds names to what a module calls them.
func (s *codeScope) imported(module string, names map[string]string) {
	for local, name := range names {
		path := module
		if name != "" && name != "default" {
			path += "." + name
		}
		if len(s.alias[local]) < 8 {
			s.alias[local] = append(s.alias[local], path)
		}
	}
}
