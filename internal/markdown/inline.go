package markdown

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// look is how a piece of text looks.
type look uint8

const (
	bold look = 1 << iota
	italic
	struck
	code
	dim
	heading
	accent
	link
)

// span is text that looks the same.
type span struct {
	text string
	look look
}

// style is a text with its look, which ends with it.
func (r *renderer) style(l look, text string) string {
	if text == "" {
		return ""
	}
	if r.ASCII {
		text = strings.Map(func(c rune) rune {
			if c > 0x7e {
				return '?'
			}
			return c
		}, text)
	}
	var s ansi.Style
	for _, attribute := range []struct {
		of    look
		color bool
		add   func(ansi.Style) ansi.Style
	}{
		{bold, false, func(s ansi.Style) ansi.Style { return s.Bold() }},
		{italic, false, func(s ansi.Style) ansi.Style { return s.Italic(true) }},
		{struck, false, func(s ansi.Style) ansi.Style { return s.Strikethrough(true) }},
		{dim, false, func(s ansi.Style) ansi.Style { return s.Faint() }},
		{link, false, func(s ansi.Style) ansi.Style { return s.Underline(true) }},
		{heading, true, func(s ansi.Style) ansi.Style { return s.ForegroundColor(ansi.Cyan) }},
		{accent, true, func(s ansi.Style) ansi.Style { return s.ForegroundColor(ansi.Cyan) }},
		{code, true, func(s ansi.Style) ansi.Style { return s.ForegroundColor(ansi.Yellow) }},
	} {
		if l&attribute.of != 0 && (r.Color || !attribute.color) {
			s = attribute.add(s)
		}
	}
	if len(s) == 0 {
		return text
	}
	return s.Styled(text)
}

// inline is the text in a block; a line feed in it breaks the line.
func (r *renderer) inline(parent ast.Node, l look) []span {
	var out []span
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			s := r.words(n)
			if n.HardLineBreak() {
				s += "\n"
			} else if n.SoftLineBreak() {
				s += " "
			}
			out = append(out, span{s, l})
		case *ast.String:
			out = append(out, span{Clean(string(n.Value)), l})
		case *ast.CodeSpan:
			for _, s := range r.inline(n, l|code) {
				if !r.Color { // there is no other sign that it is code
					s.text = "`" + s.text + "`"
				}
				out = append(out, s)
			}
		case *ast.Emphasis:
			more := italic
			if n.Level > 1 {
				more = bold
			}
			out = append(out, r.inline(n, l|more)...)
		case *east.Strikethrough:
			out = append(out, r.inline(n, l|struck)...)
		case *east.TaskCheckBox:
			box := "[ ] "
			if n.IsChecked {
				box = "[x] "
			}
			out = append(out, span{box, l | accent})
		case *ast.Link:
			out = append(out, r.target(r.inline(n, l|link), string(n.Destination), l)...)
		case *ast.Image:
			out = append(out, r.target(r.inline(n, l|italic), string(n.Destination), l)...)
		case *ast.AutoLink:
			out = append(out, span{Clean(string(n.URL(r.source))), l | link})
		case *ast.RawHTML:
			var b strings.Builder
			for i := range n.Segments.Len() {
				s := n.Segments.At(i)
				b.Write(s.Value(r.source))
			}
			out = append(out, span{strings.ReplaceAll(b.String(), "\n", " "), l | dim})
		default:
			out = append(out, r.inline(n, l)...)
		}
	}
	return out
}

// words is a text with its escapes and entities resolved. An entity may stand for any character.
func (r *renderer) words(n *ast.Text) string {
	b := n.Value(r.source)
	if n.IsRaw() {
		return strings.ReplaceAll(string(b), "\n", " ")
	}
	b = util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(b)))
	return strings.ReplaceAll(Clean(string(b)), "\n", " ")
}

// target adds the address of a link to its text: what it says may be another one.
func (r *renderer) target(label []span, address string, l look) []span {
	address = strings.ReplaceAll(Clean(address), "\n", "")
	var said strings.Builder
	for _, s := range label {
		said.WriteString(s.text)
	}
	if said.String() == address || address == "" {
		return label
	}
	return append(label, span{" (" + address + ")", l | dim})
}
