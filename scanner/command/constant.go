package command

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

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
			return []string{text.Rot13(first)}
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
				return []string{text.Rot13(s)}
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
