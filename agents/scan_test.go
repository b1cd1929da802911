package agents_test

import (
	"strings"
	"testing"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/scanner"
)

// What a setup scans with sees what the user says, the arguments of a call and its result, and what it
// finds is recorded.
func TestSetupScans(t *testing.T) {
	f := newFixture(t, callThenAnswer(call("echo", `{"text":"quartz"}`)), echo())
	f.setup.Scan = func(text string) []scanner.Finding {
		if !strings.Contains(text, "quartz") {
			return nil
		}
		return []scanner.Finding{{Category: scanner.RoleHijacking, Rule: "model", Confidence: scanner.High, Score: 0.99}}
	}
	f.open()
	run, _ := f.run("core", "about quartz")
	for _, kind := range []string{audit.ToolStart, audit.ToolEnd} {
		records := f.records(run.ID, kind)
		if len(records) != 1 || !strings.Contains(string(records[0].Findings), `"score":0.99`) {
			t.Errorf("%s: got %+v", kind, records)
		}
	}
}
