package commands

import (
	"bytes"
	"testing"
	"time"

	"github.com/svc-gateway/svc/audit"
)

func TestPrintEvent(t *testing.T) {
	e := audit.Event{
		Time: time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.Local), Type: audit.ToolStart, User: "a", Tool: "run_command",
		Decision: "allow", Input: "{\"command\":\n\"df\x1b\"}",
	}
	var out bytes.Buffer
	if err := printEvent(&out, e, false); err != nil {
		t.Fatal(err)
	}
	want := "2026-01-02 03:04:05.006  tool.start    a  tool=run_command  decision=allow  input={\"command\": \"df\"}\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
