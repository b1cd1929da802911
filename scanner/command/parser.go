package command

import (
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// nodeKind is the kind of a node of a program.
type nodeKind int

const (
	nodeOther  nodeKind = iota // a number or what is not understood
	nodeName                   // a name
	nodeString                 // text is its value; kids are the expressions in it, between pieces
	nodeAttr                   // kids[0].text
	nodeIndex                  // kids[0][kids[1:]]
	nodeCall                   // kids[0](kids[1:])
	nodeGroup                  // what stands between brackets; text is the opening one
	nodeChain                  // kids joined by operators
	nodeAny                    // any one of what kids[0] holds
)

// node is an expression of a program. It knows no more of the grammar than what tells which
// function is called with what: brackets, names, attributes, calls and operators.
type node struct {
	kind       nodeKind
	text       string
	kids       []*node
	keys       []string // of calls and groups, for each kid: the name it is given under, or ""
	ops        []string // of a chain: what stands between the kids
	pieces     []string
	start, end int
}

// maxTree is how deep the nodes of a program may be nested. What is deeper is left out.
const maxTree = 100

// maxChain is how many values may stand in a row, maxSuffix how many attributes, indexes and calls
// behind one.
const (
	maxChain  = 500
	maxSuffix = 60
)

// codeParser builds nodes from tokens. It never fails: what it does not understand it skips.
type codeParser struct {
	tokens []codeToken
	i      int
	depth  int
	script bool // JavaScript: templates can be called, lines go on
	scope  *codeScope
}

// codeScope holds what the names of a program may stand for, wherever that is said in it.
type codeScope struct {
	bound map[string][]*node  // name or dotted name → expressions assigned to it
	alias map[string][]string // name → dotted names imported under it
	stars []string            // modules all of whose names are imported
}

func (p *codeParser) peek() codeToken {
	if p.i < len(p.tokens) {
		return p.tokens[p.i]
	}
	return codeToken{kind: tokenEnd}
}

func (p *codeParser) after() codeToken {
	if p.i+1 < len(p.tokens) {
		return p.tokens[p.i+1]
	}
	return codeToken{kind: tokenEnd}
}

// accept takes the next token if it is one of the texts.
func (p *codeParser) accept(texts ...string) bool {
	if p.peek().is(texts...) {
		p.i++
		return true
	}
	return false
}

// infix are the words that stand between values, prefix those before one.
var (
	infixWords  = text.Words("and or if else in is as for of instanceof not from while")
	prefixWords = text.Words(`await async return yield new not lambda typeof delete void throw del assert raise const let var export default
		case try finally do else if elif while for with def function class static public private protected readonly print global
		nonlocal except catch switch match go defer func echo exec`)
)

// expression reads values and operators up to where neither goes on.
func (p *codeParser) expression() *node {
	if p.depth >= maxTree {
		return nil
	}
	p.depth++
	defer func() { p.depth-- }()
	chain := &node{kind: nodeChain, start: p.peek().start}
	op, loose := "", 0 // loose counts the colons that belong to the expression
	declares, decorates := false, false
	for {
		t := p.peek()
		last := len(chain.kids) - 1
		switch {
		case t.kind == tokenLine && p.script && (op != "" || p.after().is(".", "?.", "+", "?", ":", "&&", "||", "=>")) && last >= 0:
			p.i++
		case t.kind == tokenEnd, t.kind == tokenLine, len(chain.kids) == maxChain, t.is(",", ";", ")", "]", "}", "=", ":=", "+="):
			return chain.simple(p.end())
		case t.is(":"):
			if loose == 0 {
				return chain.simple(p.end())
			}
			loose--
			p.i++
			op = ":"
		case t.kind == tokenName && last >= 0 && op == "" && t.is("as"):
			p.i++
			if p.peek().kind == tokenName || p.peek().is("(") {
				target := p.operand()
				p.bind(target, chain.kids[last])
			}
		case t.kind == tokenName && last >= 0 && op == "" && infixWords.HasFoldString(t.text) && !p.after().is("."):
			p.i++
			op = t.text
			if (op == "in" || op == "of") && chain.kids[last].kind != nodeCall {
				of := &node{kind: nodeAny, start: t.start, end: t.end}
				p.bind(chain.kids[last], of)
				if v := p.expression(); v != nil {
					of.kids = []*node{v}
					chain.kids, chain.ops = append(chain.kids, v), append(chain.ops, op)
				}
				op = ""
			}
		case t.kind == tokenName && op == "" && prefixWords.HasFoldString(t.text) && !p.after().is("(", ".", "=", ",", ")") || t.is("await", "new", "return") && !p.after().is("."):
			p.i++
			declares = t.is("def", "function", "class", "func")
			if t.is("lambda") {
				loose++
			}
		case t.kind == tokenMark && !t.is("(", "[", "{"):
			p.i++
			decorates = t.is("@") && last < 0
			if t.is("?") {
				loose++
			}
			if last >= 0 {
				op = t.text
			}
		default:
			v := p.operand()
			if v == nil {
				return chain.simple(p.end())
			}
			if (declares || decorates) && v.kind == nodeCall {
				v = p.parameters(v)
			}
			declares, decorates = false, false
			if last >= 0 {
				chain.ops = append(chain.ops, op)
			}
			chain.kids = append(chain.kids, v)
			op = ""
		}
	}
}

// end returns where the token before ends.
func (p *codeParser) end() int {
	if p.i > 0 && p.i <= len(p.tokens) {
		return p.tokens[p.i-1].end
	}
	return 0
}

// simple returns the only kid of a chain instead of it, and nil for none.
func (n *node) simple(end int) *node {
	n.end = max(end, n.start)
	switch len(n.kids) {
	case 0:
		return nil
	case 1:
		return n.kids[0]
	}
	return n
}

// operand reads a value with the attributes, indexes and calls that follow it.
func (p *codeParser) operand() *node {
	t := p.peek()
	p.i++
	n := &node{text: t.text, start: t.start, end: t.end}
	switch {
	case t.kind == tokenString:
		p.str(n, t)
	case t.kind == tokenName:
		n.kind = nodeName
	case t.is("(", "[", "{"):
		n.kind = nodeGroup
		p.nested(n, t.text == "(" || t.text == "[")
	}
	for range maxSuffix {
		t := p.peek()
		switch {
		case t.is(".", "?.", "->", "::") && p.after().kind == tokenName:
			name := p.after()
			p.i += 2
			n = &node{kind: nodeAttr, text: name.text, kids: []*node{n}, start: n.start, end: name.end}
		case t.is("?.") && p.after().is("(", "["):
			p.i++
		case t.is("(") || t.is("[") && n.kind != nodeOther:
			p.i++
			m := &node{kind: nodeCall, text: t.text, kids: []*node{n}, keys: []string{""}, start: n.start, end: t.end}
			if t.is("[") {
				m.kind = nodeIndex
			}
			p.nested(m, true)
			n = m
		case t.kind == tokenString && p.script && (n.kind == nodeName || n.kind == nodeAttr) && t.start == n.end:
			p.i++
			s := &node{text: t.text, start: t.start, end: t.end}
			p.str(s, t)
			n = &node{kind: nodeCall, text: "(", kids: []*node{n, s}, keys: []string{"", ""}, start: n.start, end: t.end}
		default:
			return n
		}
	}
	return n
}

// nested reads what stands between brackets.
func (p *codeParser) nested(n *node, call bool) {
	if p.depth >= maxTree {
		return
	}
	p.depth++
	p.items(n, call)
	p.depth--
}

// str makes a string of a token and of the strings that directly follow it.
func (p *codeParser) str(n *node, t codeToken) {
	n.kind = nodeString
	n.pieces = []string{""}
	for range maxChain {
		pieces := t.pieces
		if pieces == nil {
			pieces = []string{t.text}
		}
		n.pieces[len(n.pieces)-1] += pieces[0]
		n.pieces = append(n.pieces, pieces[1:]...)
		for from, i := 0, 0; i < len(t.holes); i++ {
			if t.holes[i].kind == tokenEnd {
				inner := codeParser{tokens: t.holes[from:i], depth: p.depth, script: p.script, scope: p.scope}
				kid := inner.expression()
				if kid == nil {
					kid = &node{start: t.start, end: t.end}
				}
				n.kids = append(n.kids, kid)
				from = i + 1
			}
		}
		n.end = t.end
		if t = p.peek(); t.kind != tokenString || p.script {
			break
		}
		p.i++
	}
	n.text = strings.Join(n.pieces, notYet)
}
