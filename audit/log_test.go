package audit_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/gowebpki/jcs"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/audit/audittest"
)

func open(t testing.TB) *audit.Log {
	t.Helper()
	return audittest.Open(t, filepath.Join(t.TempDir(), "audit.db"))
}

// full has every field set, with text that is awkward to write as JSON.
func full() audit.Event {
	return audit.Event{
		Time: time.Date(2027, 1, 31, 10, 30, 0, 125_999_999, time.FixedZone("CET", 3600)),
		Type: audit.ToolEnd, Run: "run-1", Thread: "thread-1", Agent: "core", User: "ann", Role: "admin", OnBehalfOf: "bob",
		Address: "192.0.2.7", TokenID: "tok-1", Call: "call-1", Tool: "run_command", Action: "use",
		Input:  `{"command":"df -h"}`,
		Output: "a\tb\r\n\"quoted\" \\ \x01\x7f <&> \u2028 \U0001F600", Duration: 0.0123456789,
		Error: "none", Traceback: "main.go:1", Decision: "allow", Rule: "table", Reasons: []string{"one \"two\"", "three"},
		PolicyHash: "ph", PolicyInput: json.RawMessage(`{"time":"now", "counts":{"b":2.50,"a":1}}`), Digest: "dg", Findings: json.RawMessage(`[ {"rule":"r","end":10e0,"category":"c"} ]`),
		Labels: []string{"user", "tool:df"}, Status: "success", Method: "POST", Path: "/runs", Code: 200,
	}
}

func TestRecordAndReadBack(t *testing.T) {
	l := open(t)
	in := full()
	if err := l.Record(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(full(), in); diff != "" {
		t.Errorf("the caller's event was changed:\n%s", diff)
	}
	got, err := l.Events(t.Context(), audit.Filter{})
	if err != nil || len(got) != 1 {
		t.Fatalf("got %d events, %v; want one", len(got), err)
	}
	want := full()
	want.Seq, want.Node = 1, audittest.Node
	want.Time = time.Date(2027, 1, 31, 9, 30, 0, 125_000_000, time.UTC)
	want.Duration = 0.012346
	want.Findings = json.RawMessage(`[{"category":"c","end":10,"rule":"r"}]`)
	want.PolicyInput = json.RawMessage(`{"counts":{"a":1,"b":2.5},"time":"now"}`)
	want.Hash = got[0].Hash
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	if err := audit.Verify(got[0]); err != nil {
		t.Error(err)
	}
	got[0].Output += "."
	if err := audit.Verify(got[0]); err == nil {
		t.Error("Verify accepts a changed event")
	}
}

// Whoever has an RFC 8785 implementation can check a line of the export.
func TestExportGivesTheHashedBytes(t *testing.T) {
	l := open(t)
	if err := l.Record(t.Context(), full(), audit.Event{Type: audit.Request, Method: "GET", Path: "/ok", Code: 401}); err != nil {
		t.Fatal(err)
	}
	events, err := l.Events(t.Context(), audit.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := l.Export(t.Context(), &out, audit.Filter{}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 2 {
		t.Fatalf("got %d lines, want 2", len(lines))
	}
	for i, line := range lines {
		if canonical, err := jcs.Transform([]byte(line)); err != nil || string(canonical) != line {
			t.Errorf("the line is not in RFC 8785 form (%v):\n got %s\nwant %s", err, line, canonical)
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal([]byte(line), &members); err != nil {
			t.Fatal(err)
		}
		var hash string
		if err := json.Unmarshal(members["hash"], &hash); err != nil {
			t.Fatal(err)
		}
		delete(members, "hash")
		delete(members, "seq")
		doc, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		record, err := jcs.Transform(doc)
		if err != nil {
			t.Fatal(err)
		}
		if got := audit.CanonicalRecord(events[i]); !bytes.Equal(got, record) {
			t.Errorf("CanonicalRecord:\n got %s\nwant %s", got, record)
		}
		if sum := sha256.Sum256(record); hex.EncodeToString(sum[:]) != hash {
			t.Errorf("got hash %s of %s, want %s", hex.EncodeToString(sum[:]), record, hash)
		}
		var e audit.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(events[i], e, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("a line decoded as an Event (-want +got):\n%s", diff)
		}
	}
	if n, err := l.Verify(t.Context(), audit.Filter{}); n != 2 || err != nil {
		t.Errorf("Verify: got %d, %v; want 2", n, err)
	}
}

func TestCredentialsAndBadText(t *testing.T) {
	l := open(t)
	const secret = "hunter2hunter2"
	e := audit.Event{
		Type: audit.ToolError, Run: "r", Call: "c", User: "password " + secret, Tool: "secret=" + secret,
		Input: `{"password":"` + secret + `"}`, Output: "community " + secret, Error: "password " + secret,
		Traceback: "password: " + secret, Path: "/x?password=" + secret, Reasons: []string{"secret " + secret},
		Findings: json.RawMessage(`[{"excerpt":"password ` + secret + `\u0000"}]`),
		Status:   "a\x00b\xffc",
	}
	if err := l.Record(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := l.Export(t.Context(), &out, audit.Filter{}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), secret) {
		t.Errorf("a secret was written: %s", out.String())
	}
	if n := strings.Count(out.String(), "REDACTED"); n < 8 {
		t.Errorf("got %d REDACTED, want one a field: %s", n, out.String())
	}
	if !strings.Contains(out.String(), `"status":"a`+"\uFFFD"+`b`+"\uFFFD"+`c"`) {
		t.Errorf("NUL and invalid UTF-8 are not replaced: %s", out.String())
	}
	if n, err := l.Verify(t.Context(), audit.Filter{}); n != 1 || err != nil {
		t.Errorf("Verify: got %d, %v; want 1", n, err)
	}
}

func TestRecordRefuses(t *testing.T) {
	l := open(t)
	nan := 0.0
	nan /= nan
	for name, c := range map[string]struct {
		e    audit.Event
		want string
	}{
		"no type":       {audit.Event{}, "type is empty"},
		"tool, no run":  {audit.Event{Type: audit.ToolStart, Call: "c"}, "run and call are needed"},
		"tool, no call": {audit.Event{Type: audit.ToolStart, Run: "r"}, "run and call are needed"},
		"duration":      {audit.Event{Type: audit.Request, Duration: nan}, "duration is NaN"},
		"findings":      {audit.Event{Type: audit.Injection, Findings: json.RawMessage(`[{]`)}, "findings are not JSON"},
	} {
		for how, record := range map[string]func(context.Context, ...audit.Event) error{"Record": l.Record, "Queue": l.Queue} {
			// The good event must not be recorded either.
			err := record(t.Context(), audit.Event{Type: audit.Request}, c.e)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %s: got %v, want %q", name, how, err, c.want)
			}
		}
	}
	for name, r := range map[string]audit.RunRecord{"run is empty": {}, "negative": {Run: "r", TotalTokens: -1}} {
		if err := l.RecordRun(t.Context(), r); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %q", err, name)
		}
	}
	if err := l.Record(t.Context()); err != nil {
		t.Errorf("no events: got %v, want nil", err)
	}
	if err := l.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := l.Events(t.Context(), audit.Filter{}); len(got) != 0 || err != nil {
		t.Errorf("got %v, %v; want no events", got, err)
	}
}

func TestClosedLogIsUnavailable(t *testing.T) {
	l := open(t)
	if err := l.Queue(t.Context(), audit.Event{Type: audit.Request}); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Record(t.Context(), audit.Event{Type: audit.Request}); !errors.Is(err, audit.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
}

func TestEventJSON(t *testing.T) {
	b, err := json.Marshal(audit.Event{Type: audit.Login, User: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	if want := []byte(`{"time":"0001-01-01T00:00:00Z","type":"login","user":"ann"}`); !bytes.Equal(b, want) {
		t.Errorf("got %s, want %s", b, want)
	}
}
