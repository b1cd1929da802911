package markdown

import (
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// gap is between the columns of a table.
const gap = 2

// table shows rows in columns; where they do not fit, as one block of names and values for each row.
func (r *renderer) table(n *east.Table, width int) []string {
	var rows [][][]span
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells [][]span
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			var l look
			if len(rows) == 0 {
				l = bold
			}
			cells = append(cells, r.cell(cell, l))
		}
		rows = append(rows, cells)
	}
	columns := make([]int, len(n.Alignments))
	for _, cells := range rows {
		for i, cell := range cells[:min(len(cells), len(columns))] {
			columns[i] = max(columns[i], width1(cell))
		}
	}
	total := gap * max(len(columns)-1, 0)
	for _, c := range columns {
		total += c
	}
	if total > width {
		return r.records(rows, width)
	}
	var out []string
	for i, cells := range rows {
		var b strings.Builder
		for j, cell := range cells[:min(len(cells), len(columns))] {
			pad := strings.Repeat(" ", columns[j]-width1(cell))
			text := r.look(cell)
			switch n.Alignments[j] {
			case east.AlignRight:
				text = pad + text
			case east.AlignCenter:
				text = pad[:len(pad)/2] + text + pad[len(pad)/2:]
			default:
				text += pad
			}
			if j > 0 {
				b.WriteString(strings.Repeat(" ", gap))
			}
			b.WriteString(text)
		}
		out = append(out, strings.TrimRight(b.String(), " "))
		if i == 0 {
			out = append(out, r.style(dim, strings.Repeat(r.sign("─", "-"), max(total, 1))))
		}
	}
	return out
}

// cell is the text of a cell, on one line.
func (r *renderer) cell(n ast.Node, l look) []span {
	spans := r.inline(n, l)
	for i := range spans {
		spans[i].text = strings.NewReplacer("\n", " ", "\t", " ").Replace(spans[i].text)
	}
	return spans
}

func (r *renderer) look(cell []span) string {
	var b strings.Builder
	for _, s := range cell {
		b.WriteString(r.style(s.look, s.text))
	}
	return b.String()
}

func width1(cell []span) int {
	n := 0
	for _, s := range cell {
		n += textWidth(s.text)
	}
	return n
}

// records are the rows of a table that is too wide, one value below the other.
func (r *renderer) records(rows [][][]span, width int) []string {
	if len(rows) == 0 {
		return nil
	}
	if len(rows) == 1 {
		return r.wrap(slices.Concat(rows[0]...), width)
	}
	var out []string
	for i, cells := range rows[1:] {
		if i > 0 {
			out = append(out, "")
		}
		for j, cell := range cells {
			var named []span
			if j < len(rows[0]) {
				named = append(slices.Clone(rows[0][j]), span{text: ": "})
			}
			out = append(out, r.wrap(append(named, cell...), width)...)
		}
	}
	return out
}
