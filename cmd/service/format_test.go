package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/svc-gateway/svc/audit"
)

func TestFormats(t *testing.T) {
	columns := []string{"tool", "n", "x"}
	rows := [][]any{{"df, \"h\"", int64(3), nil}, {[]byte("b\n"), 1.5, "z"}}
	for format, want := range map[string]string{
		"table": "TOOL     N    X\ndf, \"h\"  3    \nb        1.5  z\n",
		"csv":   "tool,n,x\n\"df, \"\"h\"\"\",3,\n\"b\n\",1.5,z\n",
		"json": `[
  {
    "tool": "df, \"h\"",
    "n": 3,
    "x": null
  },
  {
    "tool": "b\n",
    "n": 1.5,
    "x": "z"
  }
]
`,
	} {
		var out bytes.Buffer
		if err := formats[format](&out, columns, rows); err != nil || out.String() != want {
			t.Errorf("%s: got %q, %v, want %q", format, out.String(), err, want)
		}
	}
}

func TestObjectKeepsColumnsInOrder(t *testing.T) {
	got, err := object([]string{"b", "a", "b"}, []any{int64(1), int64(2), int64(3)})
	if want := `{"a":2,"b":3}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

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

func TestParseTime(t *testing.T) {
	now := time.Date(2026, 5, 10, 12, 0, 0, 0, time.UTC)
	for in, want := range map[string]time.Time{
		"":                     {},
		"12h":                  now.Add(-12 * time.Hour),
		"90m":                  now.Add(-90 * time.Minute),
		"7d":                   now.Add(-7 * 24 * time.Hour),
		"2026-01-31":           time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC),
		"2026-01-31T10:00:00Z": time.Date(2026, 1, 31, 10, 0, 0, 0, time.UTC),
	} {
		got, err := parseTime(in, now)
		if err != nil || !got.Equal(want) {
			t.Errorf("parseTime(%q): got %v, %v, want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"yesterday", "-3h", "-1d", "7", "d", "2026-13-01"} {
		if got, err := parseTime(in, now); err == nil {
			t.Errorf("parseTime(%q): got %v, want an error", in, got)
		}
	}
}
