package duckwire_test

import (
	"encoding/json"
	"testing"

	"github.com/svc-gateway/svc/internal/duckwire"
)

// Whatever a helper says, what the model gets is a JSON document with as many rows.
func FuzzDocument(f *testing.F) {
	f.Add([]byte(`{"version":"0.4.12","columns":[{"name":"n","type":"BIGINT"}],"rows":[[1],["x"]],"truncated":"rows"}`))
	f.Add([]byte(`{"columns":[{"name":"\"","type":"<"}],"rows":[{"a":[null]}]}`))
	f.Fuzz(func(t *testing.T, said []byte) {
		var a duckwire.Answer
		if json.Unmarshal(said, &a) != nil {
			return
		}
		text, err := a.Document()
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Rows  []json.RawMessage
			Count int `json:"row_count"`
		}
		if err := json.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if len(doc.Rows) != len(a.Rows) || doc.Count != len(a.Rows) {
			t.Errorf("got %d rows and a count of %d of %d", len(doc.Rows), doc.Count, len(a.Rows))
		}
	})
}
