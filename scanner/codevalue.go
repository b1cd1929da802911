package scanner

import (
	"encoding/base64"
	"encoding/hex"
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
		case n.kind == nodeGroup && n.text == "{" && !slices.ContainsFunc(n.keys, func(k string) bool { return k != "" }),
			n.kind == nodeGroup && n.text != "{":
			return union(n.kids, of)
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
	if last := n.kids[len(n.kids)-1]; last.kind == nodeOther && last.text == "1" && last.start > n.kids[0].end+2 {
		return []string{reversed(s)}
	}
	return nil
}

func reversed(s string) string {
	r := []rune(s)
	slices.Reverse(r)
	return string(r)
}

// called folds the functions that make texts of texts.
func (v *codeValues) called(n *node) []string {
	fn, args := n.kids[0], n.kids[1:]
	name := fn.text
	if fn.kind == nodeAttr {
		if all := v.method(name, fn.kids[0], args); all != nil {
			return all
		}
	}
	if len(args) == 0 {
		return nil
	}
	first, ok := v.one(args[0])
	switch name {
	case "str", "text", "SQL", "String", "dedent", "bytes", "bytearray", "literal_column", "quote", "raw", "TextClause", "encodeURI", "decodeURIComponent":
		if ok {
			return []string{first}
		}
		if text := v.numbered(args[0]); text != "" {
			return []string{text}
		}
	case "chr", "fromCharCode", "fromCodePoint":
		if text := v.numbered(&node{kind: nodeGroup, kids: args}); text != "" {
			return []string{text}
		}
	case "fromhex", "unhexlify":
		if b, err := hex.DecodeString(strings.ReplaceAll(first, " ", "")); err == nil && ok {
			return []string{string(b)}
		}
	case "b64decode", "atob", "urlsafe_b64decode", "standard_b64decode", "decodestring":
		if text, err := decodeBase64(first); err == nil && ok {
			return []string{text}
		}
	case "from": // Buffer.from
		if encoding, _ := v.one(args[len(args)-1]); ok && len(args) > 1 && encoding == "base64" {
			if text, err := decodeBase64(first); err == nil {
				return []string{text}
			}
		} else if b, err := hex.DecodeString(first); err == nil && len(args) > 1 && encoding == "hex" {
			return []string{string(b)}
		}
		if ok {
			return []string{first}
		}
	case "reversed":
		if ok {
			return []string{reversed(first)}
		}
	case "decode":
		if coding, _ := v.one(args[len(args)-1]); ok && strings.Contains(coding, "13") {
			return []string{rot13(first)}
		}
	}
	return nil
}

// method folds the methods of texts.
func (v *codeValues) method(name string, on *node, args []*node) []string {
	s, ok := v.one(on)
	if !ok {
		return nil
	}
	switch name {
	case "format":
		return limit(v.formatted(s, args...))
	case "strip", "lstrip", "rstrip", "trim", "encode", "decode", "toString", "String", "valueOf", "as_string", "bindparams", "format_map":
		if len(args) > 0 && name != "toString" {
			if coding, _ := v.one(args[0]); strings.Contains(coding, "rot") {
				return []string{rot13(s)}
			}
		}
		return []string{strings.TrimSpace(s)}
	case "lower", "toLowerCase", "casefold":
		return []string{strings.ToLower(s)}
	case "upper", "toUpperCase":
		return []string{strings.ToUpper(s)}
	case "concat":
		for _, a := range args {
			part, ok := v.one(a)
			if !ok {
				part = notYet
			}
			s += part
		}
		return limit(s)
	case "replace", "replaceAll":
		if len(args) > 1 {
			from, ok1 := v.one(args[0])
			to, ok2 := v.one(args[1])
			if ok1 && ok2 && from != "" && len(s)*(len(to)+1) < maxConstant {
				return []string{strings.ReplaceAll(s, from, to)}
			}
		}
	case "join":
		if len(args) > 0 {
			return v.join(s, args[0])
		}
	}
	return nil
}

// join joins the elements of a list: sep.join(list) of Python.
func (v *codeValues) join(sep string, list *node) []string {
	for list.kind == nodeName && len(v.bound[list.text]) == 1 {
		if list = v.bound[list.text][0]; !v.enter() {
			return nil
		}
	}
	if list.kind != nodeGroup {
		if s, ok := v.one(list); ok && sep == "" {
			return []string{s} // reversed(...), or the characters of a text
		}
		if text := v.numbered(list); text != "" {
			return []string{text}
		}
		return nil
	}
	parts := make([]string, len(list.kids))
	for i, kid := range list.kids {
		part, ok := v.one(kid)
		if !ok {
			part = notYet
		}
		parts[i] = part
	}
	return limit(strings.Join(parts, sep))
}

// numbered returns the text whose characters' numbers stand in a list or map(chr, list).
func (v *codeValues) numbered(n *node) string {
	if n.kind == nodeCall && n.kids[0].text == "map" && len(n.kids) > 2 && n.kids[1].text == "chr" {
		n = n.kids[2]
	}
	if n.kind != nodeGroup {
		return ""
	}
	var b strings.Builder
	for _, kid := range n.kids {
		c, err := strconv.ParseInt(kid.text, 0, 32)
		if err != nil || kid.kind != nodeOther {
			return ""
		}
		b.WriteRune(rune(c))
	}
	return b.String()
}

// decodeBase64 decodes base64 with or without padding, of either alphabet.
func decodeBase64(s string) (string, error) {
	s = strings.Map(func(r rune) rune {
		switch r {
		case '-':
			return '+'
		case '_':
			return '/'
		case '=', ' ', '\n', '\r', '\t':
			return -1
		}
		return r
	}, s)
	b, err := base64.RawStdEncoding.DecodeString(s)
	return string(b), err
}
