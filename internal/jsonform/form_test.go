package jsonform_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	reflectschema "github.com/swaggest/jsonschema-go"

	"github.com/svc-gateway/svc/internal/jsonform"
)

type message struct {
	Role    string `json:"role" required:"true" enum:"user,assistant"`
	Content string `json:"content" required:"true" minLength:"1"`
}

type request struct {
	Input struct {
		Messages []message `json:"messages" required:"true" nullable:"false" minItems:"1" maxItems:"3"`
	} `json:"input" required:"true"`
	Agent  string         `json:"agent,omitempty" minLength:"2"`
	Thread string         `json:"thread,omitempty" format:"uuid"`
	Count  int            `json:"count,omitempty"`
	Extra  map[string]any `json:"extra,omitempty" nullable:"false"`
}

func form(t testing.TB) *jsonform.Form {
	t.Helper()
	f, err := jsonform.Of(new(request))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestCheck(t *testing.T) {
	in := func(messages string) string { return `{"input":{"messages":[` + messages + `]}}` }
	ok := `{"role":"user","content":"x"}`
	for _, tc := range []struct{ doc, want string }{
		{in(ok), ""},
		{in(ok + "," + ok + "," + ok), ""},
		{`{"input":{"messages":[` + ok + `],"x":[{}]},"agent":"ab","thread":"0190f5a4-7c3e-7b1a-9f6e-2d4c8a1b3e5f","count":2,"extra":{"a":[1]},"y":{"input":1}}`, ""},
		{`{}`, "input: is missing"},
		{`[]`, "the body: must be of type object, got array"},
		{`{"input":"hi"}`, "input: must be of type object, got string"},
		{`{"input":{}}`, "input.messages: is missing"},
		{in(""), "input.messages: must not be empty"},
		{in(ok + "," + ok + "," + ok + "," + ok), "input.messages: must have at most 3 items, got 4"},
		{`{"input":{"messages":null}}`, "input.messages: must be of type array, got null"},
		{in(`"hi"`), "input.messages[0]: must be of type object, got string"},
		{in(ok + `,{"content":"x"}`), "input.messages[1].role: is missing"},
		{in(`{"role":"system","content":"x"}`), `input.messages[0].role: must be one of user assistant, got "system"`},
		{in(`{"role":"` + strings.Repeat("é", 99) + `","content":"x"}`), `input.messages[0].role: must be one of user assistant, got "` + strings.Repeat("é", 20) + `…"`},
		{in(`{"role":"\u0075ser","content":["x"]}`), "input.messages[0].content: must be of type string, got array"},
		{in(`{"role":"user","content":""}`), "input.messages[0].content: must not be empty"},
		{`{"thread":"7","input":{"messages":[` + ok + `]}}`, "thread: must be a valid uuid"},
		{`{"thread":"{0190f5a4-7c3e-7b1a-9f6e-2d4c8a1b3e5f}","input":{}}`, "thread: must be a valid uuid"},
		{`{"agent":"\u0061","input":{}}`, "agent: must have at least 2 characters"},
		{`{"count":"2"}`, "count: must be of type integer, got string"},
		{`{"count":1.5}`, "count: must be of type integer, got number"},
		{`{"extra":[]}`, "extra: must be of type object, got array"},
	} {
		err := form(t).Check([]byte(tc.doc))
		var e *jsonform.Error
		switch {
		case tc.want == "" && err != nil, tc.want != "" && (err == nil || err.Error() != tc.want):
			t.Errorf("%s: got %v, want %s", tc.doc, err, tc.want)
		case err != nil && !errors.As(err, &e):
			t.Errorf("%s: got a %T", tc.doc, err)
		}
	}
}

func TestOfRefusesWhatIsNotChecked(t *testing.T) {
	for want, v := range map[string]any{
		"a: unknown keyword pattern": new(struct {
			A string `json:"a" pattern:"^x$"`
		}),
		`a: unknown format "email"`: new(struct {
			A string `json:"a" format:"email"`
		}),
		"a: several types": new(struct {
			A []string `json:"a"`
		}),
		"a: unknown keyword additionalProperties": new(struct {
			A map[string]string `json:"a" nullable:"false"`
		}),
	} {
		if _, err := jsonform.Of(v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// A form accepts what a validator accepts that makes a tree of the document.
func FuzzCheckIsTheSchemas(f *testing.F) {
	for _, s := range []string{
		`{"input":{"messages":[{"role":"user","content":"x"}]}}`, `{"input":{"messages":[]}}`, `{"input":{"messages":[{"role":"x"}]}}`,
		`{"agent":"é","input":null}`, `{"thread":"0190F5A4-7c3e-7b1a-9f6e-2d4c8a1b3e5f","count":1.0}`, `{"extra":{"a":{"b":[]}}}`, `7`,
	} {
		f.Add(s)
	}
	var r reflectschema.Reflector
	made, err := r.Reflect(new(request), reflectschema.InlineRefs)
	if err != nil {
		f.Fatal(err)
	}
	text, err := json.Marshal(made)
	if err != nil {
		f.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		f.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("request", doc); err != nil {
		f.Fatal(err)
	}
	schema, err := c.Compile("request")
	if err != nil {
		f.Fatal(err)
	}
	ours := form(f)
	f.Fuzz(func(t *testing.T, s string) {
		tree, err := jsonschema.UnmarshalJSON(strings.NewReader(s))
		if err != nil {
			t.Skip("no JSON")
		}
		got, want := ours.Check([]byte(s)), schema.Validate(tree)
		if (got == nil) != (want == nil) && !strings.Contains(s, "count") { // 1.0 is an integer to the schema, and not to the decoder
			t.Errorf("%s: got %v, the schema says %v", s, got, want)
		}
	})
}

func TestCheckMakesNoTree(t *testing.T) {
	f := form(t)
	doc := []byte(`{"input":{"messages":[{"role":"user","content":"x"}]},"x":[` + strings.Repeat(`{"a":0},`, 200_000) + `0]}`)
	if got := testing.AllocsPerRun(3, func() {
		if err := f.Check(doc); err != nil {
			t.Fatal(err)
		}
	}); got > 50 {
		t.Errorf("%v allocations for a document of 200,000 objects that nobody reads", got)
	}
}
