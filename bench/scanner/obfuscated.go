package main

import (
	"fmt"
	"slices"

	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/inject"
)

// obfuscated counts which attacks that are found as they are remain found under each disguise, and
// which harmless texts begin to be found under it.
func obfuscated(m *measure) error {
	attacks, err := m.samples("injection.jsonl")
	if err != nil {
		return err
	}
	harmless, err := m.samples("benign.jsonl")
	if err != nil {
		return err
	}
	t := newTable("attacks that remain found", "harmless texts found")
	for _, s := range attacks {
		if !openly(inject.Scan(s.Text)) {
			continue
		}
		for _, d := range m.disguises() {
			text := d.apply(s.Text)
			high := hasHigh(inject.Scan(text))
			t.add(d.name, "attacks that remain found", high)
			if m.show == d.name && s.Seen() && !high {
				fmt.Fprintf(m.out, "%s %s\n  %q\n", s.ID, s.Source, cut(text))
			}
		}
	}
	for i, s := range harmless {
		if i%5 > 0 {
			continue // a fifth of them tells enough
		}
		for _, d := range m.disguises() {
			found := inject.Scan(d.apply(s.Text))
			t.add(d.name, "harmless texts found", hasHigh(found))
			if m.show == d.name && s.Seen() && hasHigh(found) {
				fmt.Fprintf(m.out, "%s %s %s\n  %q\n", s.ID, s.Source, rulesOf(found), cut(s.Text))
			}
		}
	}
	t.print(m.out)
	return nil
}

// openly reports whether something was found with high confidence in the text as it stands. What
// was only found under a disguise of its own tells nothing of one more.
func openly(found []scanner.Finding) bool {
	return slices.ContainsFunc(found, func(f scanner.Finding) bool {
		return f.Confidence == scanner.High && f.View == scanner.ViewText
	})
}

// disguises are all of them, or the one whose mistakes are asked for.
func (m *measure) disguises() []disguise {
	for _, d := range disguises {
		if d.name == m.show {
			return []disguise{d}
		}
	}
	return disguises
}
