package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// limits are the thresholds, as margins.
type limits struct{ low, high float64 }

// The shares of harmless texts of sources that were not trained with that may be found, at the two
// thresholds. The one is of all texts, the other of those of any source with at least 100.
const (
	lowAlarms, lowWorst   = 0.012, 0.05
	highAlarms, highWorst = 0.003, 0.005
	manyTexts             = 100
)

// calibrate chooses the thresholds by false alarms.
func calibrate(s *set, scores map[*doc]float64) limits {
	margins := make(map[string][]float64)
	for _, d := range s.docs {
		m, ok := scores[d]
		if !ok || d.attack {
			continue
		}
		margins[""] = append(margins[""], m)
		margins[d.source] = append(margins[d.source], m)
	}
	choose := func(all, worst float64) float64 {
		limit := quantile(margins[""], all)
		for source, list := range margins {
			if source != "" && len(list) >= manyTexts {
				limit = max(limit, quantile(list, worst))
			}
		}
		return limit
	}
	l := limits{choose(lowAlarms, lowWorst), choose(highAlarms, highWorst)}
	l.high = max(l.high, l.low)
	return l
}

// quantile is the smallest margin that at most the share of the list is above of.
func quantile(list []float64, share float64) float64 {
	if len(list) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(list))
	return sorted[max(0, len(sorted)-1-int(share*float64(len(sorted))))] + 1e-3
}

// row is the figures of a source.
type row struct {
	source    string
	attack    bool
	all       int
	low, high int
}

type table []row

// measure counts what is found of each source.
func measure(s *set, scores map[*doc]float64, l limits) table {
	rows := make(map[string]*row)
	for _, d := range s.docs {
		m, ok := scores[d]
		if !ok {
			continue
		}
		total := "HARMLESS"
		switch {
		case d.attack && strings.HasSuffix(d.source, "(bare tasks)"):
			total = "BARE TASKS"
		case d.attack:
			total = "ATTACKS"
		}
		for _, name := range []string{d.source, total} {
			key := name + attackMark(d)
			if rows[key] == nil {
				rows[key] = &row{source: name, attack: d.attack}
			}
			r := rows[key]
			r.all++
			if m >= l.low {
				r.low++
			}
			if m >= l.high {
				r.high++
			}
		}
	}
	var t table
	for _, r := range rows {
		t = append(t, *r)
	}
	slices.SortFunc(t, func(a, b row) int {
		if a.attack != b.attack {
			if a.attack {
				return -1
			}
			return 1
		}
		return strings.Compare(a.source, b.source)
	})
	return t
}

// print writes the table for people.
func (t table) print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "source\ttexts\tlow or high\thigh")
	for _, r := range t {
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\n", r.name(), r.all, share(r.low, r.all), share(r.high, r.all))
	}
	_ = w.Flush() // an error of standard output need not be told
}

// name says what the texts are, too.
func (r row) name() string {
	if r.attack {
		return "attacks: " + r.source
	}
	return "harmless: " + r.source
}

func share(n, all int) string {
	return fmt.Sprintf("%d (%.1f %%)", n, 100*float64(n)/float64(max(1, all)))
}

// showMistakes prints what is wrong in sources whose names begin so.
func showMistakes(out io.Writer, s *set, scores map[*doc]float64, l limits, source string) {
	for _, d := range s.docs {
		m, ok := scores[d]
		if ok && strings.HasPrefix(d.source, source) && (m >= l.low) != d.attack {
			text := d.text
			if len(text) > 300 {
				text = text[:300]
			}
			fmt.Fprintf(out, "%.2f %s %q\n", m, d.group, text)
		}
	}
}
