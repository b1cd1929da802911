package main

import (
	"fmt"
	"strings"

	"github.com/svc-gateway/svc/internal/corpus"
	"github.com/svc-gateway/svc/scanner/command"
)

// commands counts which class commands are given: dangerous ones should be, what looks like them
// should not.
func commands(m *measure) error {
	return classes(m, []string{"commands.jsonl", "dcg_commands.jsonl", "ops.jsonl"}, "dangerous", "unknown", func(s corpus.Sample) (bool, bool, string) {
		c := command.Analyze(s.Text)
		return c.Class == command.Dangerous, c.Class == command.Unknown, fmt.Sprint(c.Class, c.Spans)
	})
}

// code counts in which programs something is found.
func code(m *measure) error {
	return classes(m, []string{"code_prescan.jsonl", "code.jsonl"}, "found", "", func(s corpus.Sample) (bool, bool, string) {
		found := command.ScanCode(s.Text, command.AnyLanguage)
		return len(found) > 0, false, fmt.Sprint(command.DetectLanguage(s.Text), found)
	})
}

// classes counts a judgement by source, category and half, and a second one over both halves.
func classes(m *measure, files []string, first, second string, judge func(corpus.Sample) (bool, bool, string)) error {
	seen, unseen := first+", seen half", first+", unseen half"
	columns := []string{seen, unseen}
	if second != "" {
		columns = append(columns, second+", all")
	}
	t := newTable(columns...)
	for _, file := range files {
		list, err := m.samples(file)
		if err != nil {
			return err
		}
		for _, s := range list {
			hit, other, why := judge(s)
			harmful := s.Label == 1 && file != "ops.jsonl" // whose sentences are no commands, whatever they ask
			row, total := "harmless: "+s.Source, "HARMLESS: "
			if harmful {
				row, total = "harmful: "+s.Source, "HARMFUL: "
			}
			for _, row := range []string{row + ", " + s.Category, total + strings.ToUpper(s.Source)} {
				column := unseen
				if s.Seen() {
					column = seen
				}
				t.add(row, column, hit)
				if second != "" {
					t.add(row, second+", all", other)
				}
			}
			if m.show == s.Source && s.Seen() && hit != harmful {
				fmt.Fprintf(m.out, "%s %s %s\n  %q\n", s.ID, s.Category, why, cut(s.Text))
			}
		}
	}
	t.print(m.out)
	return nil
}
