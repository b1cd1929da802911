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
