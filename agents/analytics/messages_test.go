package analytics_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/svc-gateway/svc/agents/analytics"
	"github.com/svc-gateway/svc/internal/duckwire"
)

func messages(t *testing.T, all ...duckwire.Message) *strings.Reader {
	t.Helper()
	var b strings.Builder
	for _, m := range all {
		if err := json.NewEncoder(&b).Encode(m); err != nil {
			t.Fatal(err)
		}
	}
	return strings.NewReader(b.String())
}

func TestMessages(t *testing.T) {
	db := open(t, config(t))
	at, severity := time.Date(2026, 11, 23, 5, 1, 2, 123456000, time.FixedZone("", 3600)), 3
	now := time.Now()
	if done, err := db.AddMessages(t.Context(), "syslog", 0, messages(t)); err != nil || done.Rows != 0 {
		t.Fatalf("making the table: got %+v, %v", done, err)
	}
	done, err := db.AddMessages(t.Context(), "syslog", 0, messages(t,
		duckwire.Message{Received: now, Sent: &at, Severity: &severity, Text: "2026-01-01", Truncated: true, Host: "it's \"h\""},
		duckwire.Message{Received: now.Add(-2 * time.Hour), Text: "old"}))
	if err != nil || done.Rows != 2 {
		t.Fatalf("got %+v, %v", done, err)
	}
	const all = "SELECT sent, severity, text, truncated, host FROM syslog ORDER BY received DESC"
	a, err := ask(db, all)
	if want := `[["2026-11-23T04:01:02.123456Z",3,"2026-01-01",true,"it's \"h\""],[null,null,"old",false,""]]`; err != nil || rows(a) != want {
		t.Errorf("got %s, %v, want %s", rows(a), err, want)
	}
	if done, err = db.AddMessages(t.Context(), "syslog", time.Hour, messages(t, duckwire.Message{Received: now, Text: "new"})); err != nil || done.Removed != 1 {
		t.Errorf("got %+v, %v, want the old one removed", done, err)
	}
}

// Messages come whole or not at all, and never into somebody's own table.
func TestMessagesRefused(t *testing.T) {
	db := open(t, config(t))
	load(t, db, analytics.File{Name: "a.csv", Table: "mine", Format: duckwire.FormatCSV}, "text\nx\n")
	good := `{"received":"2026-11-23T05:01:02Z","text":"x"}` + "\n"
	for _, tt := range []struct{ name, table, lines, code string }{
		{"another table", "mine", good, duckwire.CodeExists},
		{"name", "a; drop", good, duckwire.CodeBadRequest},
		{"not JSON", "syslog", good + "{", duckwire.CodeBadRequest},
		{"type", "syslog", good + `{"text":1}`, duckwire.CodeBadRequest},
	} {
		_, err := db.AddMessages(t.Context(), tt.table, 0, strings.NewReader(tt.lines))
		if f, ok := errors.AsType[*duckwire.Fault](err); !ok || f.Code != tt.code {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.code)
		}
	}
	a, err := ask(db, "SELECT count(*) FROM duckdb_tables()")
	if err != nil || rows(a) != "[[1]]" {
		t.Errorf("got %s tables, %v, want 1", rows(a), err)
	}
}
