package strictjson_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/svc-gateway/svc/internal/strictjson"
)

func TestCheck(t *testing.T) {
	deep := strings.Repeat("[", strictjson.MaxDepth+1) + strings.Repeat("]", strictjson.MaxDepth+1)
	for _, tc := range []struct {
		doc  string
		want error
	}{
		{`{"a":[1,2.5,"x",null,true]}`, nil},
		{` "text" `, nil},
		{deep[1 : len(deep)-1], nil},
		{"", strictjson.ErrEmpty},
		{" \n", strictjson.ErrEmpty},
		{`{"a":`, strictjson.ErrTruncated},
		{`{"a":"b`, strictjson.ErrTruncated},
		{`{a:1}`, strictjson.ErrSyntax},
		{`{"a":1} x`, strictjson.ErrTrailing},
		{`{}{}`, strictjson.ErrTrailing},
		{`{"a":1,"a":2}`, strictjson.ErrDuplicate},
		{`{"a":1,"\u0061":2}`, strictjson.ErrDuplicate},
		{"\"\xff\"", strictjson.ErrSyntax},
		{`"\ud800"`, strictjson.ErrSyntax},
		{deep, strictjson.ErrDepth},
		{strings.Repeat("[", 1_000_000), strictjson.ErrDepth},
		{`9007199254740991`, nil},
		{`9007199254740993`, strictjson.ErrNumber},
		{`1e999`, strictjson.ErrNumber},
	} {
		if err := strictjson.Check([]byte(tc.doc)); !errors.Is(err, tc.want) {
			t.Errorf("Check(%.40q): got %v, want %v", tc.doc, err, tc.want)
		}
	}
}

func TestTooDeep(t *testing.T) {
	deep := strings.Repeat("[", strictjson.MaxDepth+1) + strings.Repeat("]", strictjson.MaxDepth+1)
	for doc, want := range map[string]bool{
		deep: true, deep[1 : len(deep)-1]: false, `{"a":1,"a":2,"b":` + deep[1:len(deep)-1] + `}`: true, "[" + `"\\\"` + deep + `"]`: false,
		deep[:strictjson.MaxDepth+1]: true, strings.Repeat("[]", 1000): false, "": false, `"` + "\\": false,
	} {
		if got := strictjson.TooDeep([]byte(doc)); got != want {
			t.Errorf("TooDeep(%.100q): got %v, want %v", doc, got, want)
		}
	}
}

func TestCheckSaysWhere(t *testing.T) {
	for _, tc := range []struct{ doc, want string }{
		{`{"a":1,"a":2}`, "duplicate name at /a"},
		{`{"x":{"a":1},"y":[{"a":1},{"b":{"c":1},"a":3,"\u0061":2}]}`, "duplicate name at /y/1/a"},
		{`{"a":{"a":{"a":1,"b":2}},"b":{"a":1,"b":2,"b":3}}`, "duplicate name at /b/b"},
		{`{"a":{"a":1},"b":{"a":1},"a":3}`, "duplicate name at /a"},
		{`{"":1,"":2}`, "duplicate name at /"},
	} {
		if err := strictjson.Check([]byte(tc.doc)); err == nil || err.Error() != tc.want {
			t.Errorf("%s: got %v, want %s", tc.doc, err, tc.want)
		}
	}
}

// A document of many small values must not need many times its size.
func TestCheckNeedsLittleMemory(t *testing.T) {
	var names strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&names, `"%x":0,`, i)
	}
	for name, doc := range map[string]string{
		"objects": `{"x":[` + strings.Repeat(`{"a":0},`, 200_000) + `0]}`,
		"names":   `{` + names.String() + `"":0}`,
		"numbers": `[` + strings.Repeat(`0,`, 500_000) + `0]`,
	} {
		text := []byte(doc)
		got := testing.Benchmark(func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := strictjson.Check(text); err != nil {
					b.Fatal(err)
				}
			}
		}).AllocedBytesPerOp()
		if most := int64(5 * len(text)); got > most { // of which not all is held at a time
			t.Errorf("%s: %d bytes are allocated for %d", name, got, len(text))
		}
	}
}

func TestObjectRefusesOtherValues(t *testing.T) {
	if _, err := strictjson.Object([]byte(`[1]`)); !errors.Is(err, strictjson.ErrSyntax) {
		t.Errorf("got %v, want %v", err, strictjson.ErrSyntax)
	}
	got, err := strictjson.Object([]byte(`{"n":1}`))
	if err != nil || got["n"] != 1.0 {
		t.Errorf("got %v, %v, want n = 1", got, err)
	}
}

func FuzzCheckAcceptsOnlyWhatTheStandardDecoderReads(f *testing.F) {
	for _, s := range []string{`{"a":1}`, `[1,{"b":"\u00e9"}]`, `"x"`, `{"a":1,"a":2}`, "\xef\xbb\xbf{}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strictjson.Check([]byte(s)) == nil && !json.Valid([]byte(s)) {
			t.Errorf("Check accepts %q, encoding/json does not", s)
		}
	})
}

func FuzzDuplicatesAreThoseOfTheDecoder(f *testing.F) {
	for _, s := range []string{`{"a":1,"a":2}`, `{"a":{"a":1},"b":[{"a":1},{"a":1,"\u0061":2}]}`, `{"":0,"":0}`, `[{"x":{}},{"x":{}}]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := strictjson.Check([]byte(s))
		if got != nil && !errors.Is(got, strictjson.ErrDuplicate) {
			return
		}
		var v jsontext.Value
		err := jsonv2.Unmarshal([]byte(s), &v)
		if twice := errors.Is(err, jsontext.ErrDuplicateName); twice != (got != nil) {
			t.Errorf("%q: got %v, the decoder says %v", s, got, err)
		}
	})
}
