package strictjson_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

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
