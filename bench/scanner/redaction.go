package main

import (
	"fmt"

	"github.com/svc-gateway/svc/scanner/redact"
)

// redaction counts the texts with secrets that lose these and nothing else, and the harmless texts
// that change.
func redaction(m *measure) error {
	t := newTable("seen half", "unseen half")
	for _, file := range []string{"secrets.jsonl", "benign.jsonl", "code.jsonl", "ops.jsonl"} {
		list, err := m.samples(file)
		if err != nil {
			return err
		}
		for _, s := range list {
			column := "unseen half"
			if s.Seen() {
				column = "seen half"
			}
			got, want := redact.Text(s.Text), s.Redacted(redact.Mark)
			hit, rows := got == want, []string{"secrets gone, the rest stays: " + s.Category, "SECRETS GONE, THE REST STAYS"}
			if len(s.Secrets) == 0 {
				hit, rows = got != want, []string{"harmless, but changed: " + s.Source, "HARMLESS, BUT CHANGED"}
			}
			for _, row := range rows {
				t.add(row, column, hit)
			}
			if m.show == s.Source && s.Seen() && got != want {
				fmt.Fprintf(m.out, "%s\n  %q\n", s.ID, cut(got))
			}
		}
	}
	t.print(m.out)
	return nil
}
