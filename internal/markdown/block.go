package markdown

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// block renders one block.
func (r *renderer) block(n ast.Node, width, depth int) []string {
	if depth > maxDepth {
		return r.raw(n, width)
	}
	switch n := n.(type) {
	case *ast.Heading:
		return r.wrap(r.inline(n, bold|heading), width)
	case *ast.Paragraph, *ast.TextBlock:
		return r.wrap(r.inline(n, 0), width)
	case *ast.ThematicBreak:
		return []string{r.style(dim, strings.Repeat(r.sign("─", "-"), min(width, 40)))}
	case *ast.CodeBlock, *ast.FencedCodeBlock, *ast.HTMLBlock:
		return r.prefix(r.code(n, width-2), r.bar(), r.bar())
	case *ast.Blockquote:
		return r.prefix(r.blocks(n, width-2, depth+1), r.bar(), r.bar())
	case *ast.List:
		return r.list(n, width, depth)
	case *east.Table:
		return r.table(n, width)
	case *ast.LinkReferenceDefinition:
		return r.raw(n, width)
	}
	return r.blocks(n, width, depth+1)
}

// raw is a block as it stands in the source.
func (r *renderer) raw(n ast.Node, width int) []string {
	if n.Lines().Len() > 0 {
		return r.code(n, width)
	}
	var out []string
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c.Type() == ast.TypeBlock {
			out = append(out, r.raw(c, width)...)
		}
	}
	return out
}

// code is the lines of a block, which are broken only where they do not fit.
func (r *renderer) code(n ast.Node, width int) []string {
	var out []string
	line := func(b []byte) {
		text := strings.ReplaceAll(strings.TrimRight(string(b), "\r\n"), "\t", "    ")
		out = append(out, r.cut(span{text: text, look: code}, max(width, 1))...)
	}
	for i := range n.Lines().Len() {
		s := n.Lines().At(i)
		line(s.Value(r.source))
	}
	if html, ok := n.(*ast.HTMLBlock); ok && html.HasClosure() {
		line(html.ClosureLine.Value(r.source))
	}
	return out
}

func (r *renderer) list(n *ast.List, width, depth int) []string {
	var out []string
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		mark := r.sign("•", "*") + " "
		if n.IsOrdered() {
			mark = strconv.Itoa(number) + string(n.Marker) + " "
			number++
		}
		indent := textWidth(mark)
		lines := r.blocks(item, width-indent, depth+1)
		if len(lines) == 0 {
			lines = []string{""}
		}
		if !n.IsTight && len(out) > 0 {
			out = append(out, "")
		}
		out = append(out, r.prefix(lines, r.style(accent, mark), strings.Repeat(" ", indent))...)
	}
	return out
}

// prefix puts something before the first line, and before the others.
func (r *renderer) prefix(lines []string, first, others string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		if i == 0 {
			out[i] = first + line
		} else {
			out[i] = others + line
		}
		if line == "" {
			out[i] = strings.TrimRight(out[i], " ")
		}
	}
	return out
}
