package main

import (
	"fmt"
	"strings"

	"github.com/svc-gateway/svc/internal/corpus"
	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/inject"
)

// injection counts what is found with high confidence, and at all, in attacks and in harmless
// texts.
func injection(m *measure) error {
	t := newTable("high, seen half", "high, unseen half", "high or low, all")
	for _, file := range []string{"injection.jsonl", "ops.jsonl", "benign.jsonl", "code.jsonl"} {
		list, err := m.samples(file)
		if err != nil {
			return err
		}
		for _, s := range list {
			found := inject.Scan(s.Text)
			high := hasHigh(found)
			for _, row := range rowsOf(s) {
				if s.Seen() {
					t.add(row, "high, seen half", high)
				} else {
					t.add(row, "high, unseen half", high)
				}
				t.add(row, "high or low, all", len(found) > 0)
			}
			if m.show == s.Source && s.Seen() && high != (s.Label == 1) {
				fmt.Fprintf(m.out, "%s %s %s\n  %q\n", s.ID, s.Category, rulesOf(found), cut(s.Text))
			}
		}
	}
	t.print(m.out)
	return nil
}

// rowsOf names the source and the totals that a text counts for.
func rowsOf(s corpus.Sample) []string {
	switch {
	case s.Label == 1 && bare(s):
		return []string{"attacks, bare tasks: " + s.Source}
	case s.Label == 1:
		return []string{"attacks: " + s.Source, "ATTACKS"}
	case strings.HasPrefix(s.Source, "notinject"):
		return []string{"harmless: " + s.Source, "HARMLESS", "HARMLESS, NOTINJECT"}
	}
	return []string{"harmless: " + s.Source, "HARMLESS"}
}

func hasHigh(found []scanner.Finding) bool {
	for _, f := range found {
		if f.Confidence == scanner.High {
			return true
		}
	}
	return false
}

// rulesOf names the rules of the findings of high confidence.
func rulesOf(found []scanner.Finding) string {
	var names []string
	for _, f := range found {
		if f.Confidence == scanner.High {
			names = append(names, fmt.Sprintf("%s(%s %q)", f.Rule, f.View, f.Excerpt))
		}
	}
	return strings.Join(names, " ")
}

// cut shortens a text for printing.
func cut(text string) string {
	const limit = 1500
	if len(text) > limit {
		return text[:limit] + "…"
	}
	return text
}

// homograph counts the domains that are found with high confidence, and at all.
func homograph(m *measure) error {
	t := newTable("high", "high or low")
	list, err := m.samples("homograph.jsonl")
	if err != nil {
		return err
	}
	for _, s := range list {
		high, any := false, false
		for _, f := range inject.Scan(s.Text) {
			if f.Category == scanner.URLHomograph {
				any = true
				high = high || f.Confidence == scanner.High
			}
		}
		row := fmt.Sprintf("%s, %s", s.Source, s.Category)
		t.add(row, "high", high)
		t.add(row, "high or low", any)
		if m.show == s.Source && s.Seen() && any != (s.Label == 1) {
			fmt.Fprintf(m.out, "%s %q\n", s.ID, s.Text)
		}
	}
	t.print(m.out)
	return nil
}
