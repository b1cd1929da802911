package command

// items reads statements, arguments or elements up to a closing bracket or the end.
func (p *codeParser) items(n *node, call bool) {
	var before []*node // names before commas, which an assignment may be about
	for {
		t := p.peek()
		switch {
		case t.kind == tokenEnd:
			return
		case t.is(")", "]", "}"):
			n.end = t.end
			p.i++
			return
		case t.is(","):
			p.i++
			continue
		case t.kind == tokenLine, t.is(";", ":"):
			p.i++
			before = nil
			continue
		case t.is("import", "from") && !call && !p.after().is("(", ".", "="):
			p.imports()
			continue
		}
		start := p.i
		key, value := p.item(call)
		if p.i == start {
			p.i++ // nothing that could be understood
		}
		if value == nil {
			continue
		}
		n.kids, n.keys = append(n.kids, value), append(n.keys, key)
		if call || n.text != "" && n.text != "{" {
			continue
		}
		if key != "" {
			before = append(before, &node{kind: nodeName, text: key})
		} else {
			before = append(before, value)
		}
		for p.accept("=", ":=", "+=") {
			targets := before
			var values []*node
			for {
				_, v := p.item(true)
				if v == nil {
					break
				}
				values = append(values, v)
				n.kids, n.keys = append(n.kids, v), append(n.keys, "")
				if !p.peek().is(",") || p.script {
					break
				}
				p.i++
			}
			p.assign(targets, values)
			before = values
		}
	}
}

// assign binds targets to values, one to one where their numbers are the same.
func (p *codeParser) assign(targets, values []*node) {
	for i, t := range targets {
		for j, v := range values {
			switch {
			case len(targets) == len(values) && i == j, len(values) == 1 && len(targets) == 1:
				p.bind(t, v)
			case len(targets) != len(values):
				p.bind(t, &node{kind: nodeAny, kids: []*node{v}, start: v.start, end: v.end})
			}
		}
	}
}

// bind says that a name, an attribute or the names of a pattern may stand for a value.
func (p *codeParser) bind(target, value *node) {
	switch target.kind {
	case nodeChain:
		p.bind(target.kids[len(target.kids)-1], value)
	case nodeGroup:
		for i, kid := range target.kids {
			name := target.keys[i]
			if name == "" {
				name = kid.dotted()
			}
			part := &node{kind: nodeAttr, text: name, kids: []*node{value}, start: value.start, end: value.end}
			if target.text != "{" {
				part = &node{kind: nodeAny, kids: []*node{value}, start: value.start, end: value.end}
			}
			p.bind(kid, part)
		}
	default:
		if name := target.dotted(); name != "" && len(p.scope.bound[name]) < 8 {
			p.scope.bound[name] = append(p.scope.bound[name], value)
		}
	}
}

// dotted returns a name with its attributes, or "".
func (n *node) dotted() string {
	switch n.kind {
	case nodeName:
		return n.text
	case nodeAttr:
		if before := n.kids[0].dotted(); before != "" {
			return before + "." + n.text
		}
	}
	return ""
}

// item reads one statement, argument or element with the name it is given under.
func (p *codeParser) item(call bool) (key string, value *node) {
	t, next := p.peek(), p.after()
	named := t.kind == tokenName || t.kind == tokenString || t.kind == tokenNumber
	if named && (next.is(":") || call && next.is("=")) && t.holes == nil {
		key = t.text
		p.i += 2
	}
	for p.peek().kind == tokenLine && (call || key != "") {
		p.i++
	}
	return key, p.expression()
}

// parameters turns what looks like a call into the parameters of a definition.
func (p *codeParser) parameters(call *node) *node {
	n := &node{kind: nodeGroup, text: "(", kids: call.kids[1:], keys: call.keys[1:], start: call.start, end: call.end}
	for i, key := range n.keys {
		if key != "" {
			p.bind(&node{kind: nodeName, text: key}, n.kids[i])
		}
	}
	return n
}
