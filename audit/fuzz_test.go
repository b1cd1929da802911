package audit

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/gowebpki/jcs"
)

// FuzzCanonicalRecord: whatever text an event holds, its record is what an RFC 8785 implementation
// makes of it, and decodes to the same text.
func FuzzCanonicalRecord(f *testing.F) {
	f.Add("", "", 0.0)
	f.Add("plain", "\"\\\b\t\n\f\r\x00\x1f\x7f/<>&", 1e-7)
	f.Add("\u2028\u2029\U0001F600\uFFFD\ufeff", "bad \xff\xc0\x80 utf-8 \xed\xa0\x80", 1e21)
	f.Fuzz(func(t *testing.T, a, b string, d float64) {
		e := Event{Type: Request, User: a, Input: b, Reasons: []string{a, b}, Duration: d}
		if err := prepare(&e, "node", time.Unix(0, 0)); err != nil {
			if validSeconds(d) {
				t.Fatal(err)
			}
			return
		}
		record := CanonicalRecord(e)
		canonical, err := jcs.Transform(record)
		if err != nil || !bytes.Equal(canonical, record) {
			t.Fatalf("%v\n got %s\nwant %s", err, record, canonical)
		}
		var back Event
		if err := json.Unmarshal(record, &back); err != nil {
			t.Fatal(err)
		}
		back.Hash = e.Hash
		if err := Verify(back); err != nil || back.User != e.User || back.Input != e.Input {
			t.Fatalf("%v\n got %+v\nwant %+v", err, back, e)
		}
	})
}

// FuzzArchiveEntry: whatever a record holds, its line in an archive is read back as the same record; and
// what is read at all is in that one form.
func FuzzArchiveEntry(f *testing.F) {
	f.Add("", "", 0.0, int64(1), `{}`)
	f.Add("a", "\"\\\b\t\n\f\r\x00\x1f\x7f/<>&", 1e-7, int64(1<<62), `[{"rule":"x","n":1e30}]`)
	f.Add("\u2028\U0001F600\ufeff", "bad \xff \xed\xa0\x80", 1e21, int64(-1), `{"type":"a","hash":"h"}`)
	f.Fuzz(func(t *testing.T, a, b string, d float64, n int64, raw string) {
		if e, err := parseEntry([]byte(raw)); err == nil && string(e.line(nil)) != raw {
			t.Fatalf("%q was read as %q", raw, e.line(nil))
		}
		e := Event{Type: ToolEnd, Run: "r", Call: "c", User: a, Input: b, Reasons: []string{a, b}, Labels: []string{b}, Findings: json.RawMessage(raw), Duration: d}
		turn := RunRecord{Run: "r", User: a, Model: b, TotalTokens: n, Estimated: n%2 == 0, Duration: d}
		if prepare(&e, "node", time.Unix(0, 0)) != nil || prepareRun(&turn, "node", time.Unix(0, 0)) != nil {
			return // it cannot be recorded
		}
		e.Seq, turn.Seq = n, n
		for _, want := range []Entry{{Event: &e}, {Turn: &turn}} {
			line := want.line(nil)
			got, err := parseEntry(line)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			if err := got.verify(); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		}
	})
}
