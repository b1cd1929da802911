package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// score is how many of the texts were hits.
type score struct{ hits, of int }

func (s *score) add(hit bool) {
	s.of++
	if hit {
		s.hits++
	}
}

func (s score) String() string {
	if s.of == 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d, %.1f %%", s.hits, s.of, 100*float64(s.hits)/float64(s.of))
}

// table is scores by row and column.
type table struct {
	columns []string
	rows    map[string]map[string]*score
}

func newTable(columns ...string) *table {
	return &table{columns: columns, rows: map[string]map[string]*score{}}
}

func (t *table) add(row, column string, hit bool) {
	if t.rows[row] == nil {
		t.rows[row] = map[string]*score{}
	}
	if t.rows[row][column] == nil {
		t.rows[row][column] = &score{}
	}
	t.rows[row][column].add(hit)
}

// print writes the table as Markdown: the rows by name, those of totals, in capitals, last.
func (t *table) print(w io.Writer) {
	var names []string
	for name := range t.rows {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if x, y := strings.ToUpper(a) == a, strings.ToUpper(b) == b; x != y {
			if x {
				return 1
			}
			return -1
		}
		return strings.Compare(a, b)
	})
	tw := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprintf(tw, "| source\t| %s\t|\n", strings.Join(t.columns, "\t| "))
	fmt.Fprintf(tw, "|---%s\t|\n", strings.Repeat("\t|---", len(t.columns)))
	for _, name := range names {
		fmt.Fprintf(tw, "| %s", name)
		for _, c := range t.columns {
			var s score
			if p := t.rows[name][c]; p != nil {
				s = *p
			}
			fmt.Fprintf(tw, "\t| %s", s)
		}
		fmt.Fprint(tw, "\t|\n")
	}
	_ = tw.Flush()
}
