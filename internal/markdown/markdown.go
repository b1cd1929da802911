// Package markdown shows Markdown in a terminal.
//
//	s := markdown.Stream{}
//	for _, block := range s.Append(piece) { // blocks that are complete
//		lines := markdown.Render(block, markdown.Options{Width: 80, Color: true})
//	}
//	open := s.Open() // and what has begun
//
// Nothing that the text holds drives the terminal: [Clean] takes out control characters and those that
// turn the direction of writing, and the only escape sequences of a line are the colours and weights that
// this package chose. Each of them ends on its line. No line is wider than asked for, but for a single
// character that is. Images and links are shown with their address, HTML as it stands.
//
// A Stream belongs to one goroutine; the functions are safe for concurrent use.
package markdown

import (
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// Options say what a terminal can show.
type Options struct {
	Width int  // columns; less than 20 counts as 20
	Color bool // colours, beside bold, italics and underlines
	ASCII bool // nothing but ASCII: what is not becomes a question mark
}

// MinWidth is the least width that is kept to.
const MinWidth = 20

// maxDepth bounds how deep quotations and lists are followed: deeper ones are shown as they stand.
const maxDepth = 12

var parser = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList)).Parser()

// Clean is text without what a terminal obeys: control characters, but line feeds and tabs, and those that
// turn the direction of writing.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// Render is a document as lines for the terminal.
func Render(source string, o Options) []string {
	o.Width = max(o.Width, MinWidth)
	r := renderer{Options: o, source: []byte(Clean(source))}
	return r.blocks(parser.Parse(text.NewReader(r.source)), o.Width, 0)
}

// Plain is text as it stands, in lines that fit.
func Plain(source string, o Options) []string {
	r := renderer{Options: o}
	o.Width = max(o.Width, MinWidth)
	var out []string
	for line := range strings.SplitSeq(strings.TrimRight(Clean(source), "\n"), "\n") {
		out = append(out, r.wrap([]span{{text: line}}, o.Width)...)
	}
	return out
}

// renderer renders one document.
type renderer struct {
	Options
	source []byte
}

// blocks renders the children of a container, with empty lines between them.
func (r *renderer) blocks(parent ast.Node, width, depth int) []string {
	var out []string
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		lines := r.block(n, max(width, 1), depth)
		if len(lines) == 0 {
			continue
		}
		if _, tight := n.(*ast.TextBlock); len(out) > 0 && !tight && !inTightList(n) {
			out = append(out, "")
		}
		out = append(out, lines...)
	}
	return out
}

// inTightList reports whether a node is the list in an item that has no empty lines around it.
func inTightList(n ast.Node) bool {
	list, ok := n.Parent().(*ast.ListItem)
	return ok && list.Parent().(*ast.List).IsTight
}

// bar is what stands before the lines of quotations and code.
func (r *renderer) bar() string { return r.style(dim, r.sign("│", "|")) + " " }

func (r *renderer) sign(nice, plain string) string {
	if r.ASCII {
		return plain
	}
	return nice
}
