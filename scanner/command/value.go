package command

import (
	"slices"
	"strconv"
	"strings"
)

// Limits of what is made of the constants of a program.
const (
	maxVariants = 8       // values or names that an expression may stand for
	maxConstant = 1 << 16 // bytes of a constant
	maxSteps    = 2_000   // expressions that are looked at for one call
	maxTotal    = 1 << 21 // expressions that are looked at for a program
	maxFollow   = 24      // expressions that stand for each other
)

// codeValues folds constants and follows names.
type codeValues struct {
	*codeScope
	script bool // JavaScript
	steps  int
	total  int
	depth  int
}

// enter reports whether one more expression may be looked at; leave ends that.
func (v *codeValues) enter() bool {
	v.steps++
	v.total++
	v.depth++
	return v.steps < maxSteps && v.total < maxTotal && v.depth < maxFollow
}

func (v *codeValues) leave() { v.depth-- }

// one returns the only value or the first of several, "" and false without one.
func (v *codeValues) one(n *node) (string, bool) {
	if all := v.values(n); len(all) > 0 {
		return all[0], true
	}
	return "", false
}

// values returns the texts that an expression may be, as far as they are known. What is not known
// of a text is notYet in it.
func (v *codeValues) values(n *node) []string {
	defer v.leave()
	if n == nil || !v.enter() {
		return nil
	}
	switch n.kind {
	case nodeString:
		text := n.pieces[0]
		for i, kid := range n.kids {
			part, ok := v.one(kid)
			if !ok {
				part = notYet
			}
			text += part + n.pieces[i+1]
		}
		return limit(text)
	case nodeName, nodeAttr:
		return union(v.bound[n.dotted()], v.values)
	case nodeGroup:
		if len(n.kids) == 1 && n.text == "(" {
			return v.values(n.kids[0])
		}
	case nodeAny:
		return v.members(n.kids, v.values)
	case nodeIndex:
		return v.indexed(n)
	case nodeCall:
		return v.called(n)
	case nodeChain:
		return v.joined(n)
	case nodeOther:
		if _, err := strconv.ParseFloat(n.text, 64); err == nil {
			return []string{n.text}
		}
	}
	return nil
}

// union collects what several expressions may be.
func union(list []*node, of func(*node) []string) (all []string) {
	for _, n := range list {
		for _, s := range of(n) {
			if len(all) < maxVariants && !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
	}
	return all
}

// members collects what the elements of lists and the values of dictionaries may be.
func (v *codeValues) members(list []*node, of func(*node) []string) []string {
	return union(list, func(n *node) []string {
		defer v.leave()
		switch {
		case !v.enter():
			return nil
		case n.kind == nodeGroup:
			return union(n.kids, of)
		case n.kind == nodeName, n.kind == nodeAttr:
			return v.members(v.bound[n.dotted()], of)
		}
		return nil
	})
}

func limit(text string) []string {
	if len(text) > maxConstant {
		return nil
	}
	return []string{text}
}

// joined folds a chain of operators.
func (v *codeValues) joined(n *node) []string {
	switch op := n.ops[0]; {
	case op == "%":
		if format, ok := v.one(n.kids[0]); ok && n.kids[0].kind == nodeString {
			return limit(v.formatted(format, n.kids[1]))
		}
	case op == "+" && !slices.ContainsFunc(n.ops, func(o string) bool { return o != "+" }):
		text, known := "", false
		for _, kid := range n.kids {
			part, ok := v.one(kid)
			if !ok {
				part = notYet
			}
			known = known || ok
			text += part
		}
		if known {
			return limit(text)
		}
	case op == "*":
		if times, err := strconv.Atoi(n.kids[1].text); err == nil && times >= 0 && times < 100 {
			if s, ok := v.one(n.kids[0]); ok {
				return limit(strings.Repeat(s, times))
			}
		}
	case slices.Contains([]string{"or", "and", "if", "||", "&&", "??", "?", "=>"}, op):
		return union(n.kids, v.values)
	}
	return nil
}

// formatted fills a format with % or {} in it.
func (v *codeValues) formatted(format string, args ...*node) string {
	if len(args) == 1 && args[0].kind == nodeGroup && args[0].text == "(" {
		args = args[0].kids
	}
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		c := format[i]
		if (c != '%' && c != '{') || i+1 >= len(format) {
			b.WriteByte(c)
			continue
		}
		if format[i+1] == c {
			b.WriteByte(c)
			i++
			continue
		}
		if c == '{' {
			if end := strings.IndexByte(format[i:], '}'); end > 0 {
				i += end
			}
		} else {
			for i++; i+1 < len(format) && strings.IndexByte("-+ #0123456789.(", format[i]) >= 0; i++ {
			}
		}
		part := notYet
		if len(args) > 0 {
			if s, ok := v.one(args[0]); ok {
				part = s
			}
			args = args[1:]
		}
		b.WriteString(part)
	}
	return b.String()
}

// indexed folds text[::-1] and what a list or dictionary holds.
func (v *codeValues) indexed(n *node) []string {
	if all := v.members(n.kids[:1], v.values); all != nil {
		return all
	}
	s, ok := v.one(n.kids[0])
	if !ok || len(n.kids) < 2 {
		return nil
	}
	// Of [::-1] only the number is left, and the room before it.
	if last := n.kids[len(n.kids)-1]; last.kind == nodeOther && last.text == "1" && last.start > n.kids[0].end+2 {
		return []string{reversed(s)}
	}
	return nil
}
