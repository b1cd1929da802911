package api

import (
	"net/http/httptest"
	"testing"
)

func TestDialectOf(t *testing.T) {
	const plain = `{"input":{"messages":[{"role":"user","content":"x"}]},"assistant_id":"core"}`
	for _, tc := range []struct {
		name      string
		path      string
		headers   []string
		body      string
		otherwise Dialect
		want      Dialect // empty: an error
	}{
		{"the smallest body of both", "/runs/stream", nil, plain, Spec, Spec},
		{"the same where the site says so", "/runs/stream", nil, plain, LangGraph, LangGraph},
		{"the parameter", "/runs/stream?dialect=langgraph", nil, plain, Spec, LangGraph},
		{"the parameter before the header", "/runs/stream?dialect=spec", []string{"X-Stream-Dialect", "langgraph"}, plain, LangGraph, Spec},
		{"the header", "/runs/stream", []string{"X-Stream-Dialect", "langgraph"}, plain, Spec, LangGraph},
		{"the header against the rest", "/runs/stream", []string{"X-Stream-Dialect", "spec", "X-Api-Key", "k"}, plain, LangGraph, Spec},
		{"an unknown word", "/runs/stream?dialect=x", nil, plain, Spec, ""},
		{"a key", "/runs/stream", []string{"X-Api-Key", "k"}, plain, Spec, LangGraph},
		{"the Python SDK", "/runs/stream", []string{"User-Agent", "langgraph-sdk-py/0.2"}, plain, Spec, LangGraph},
		{"somebody who names it", "/runs/stream", []string{"User-Agent", "x langgraph-sdk"}, plain, Spec, Spec},
		{"what JavaScript accepts", "/runs/stream", []string{"Accept", "*/*"}, plain, Spec, Spec},
		{"stream_mode", "/runs/stream", nil, `{"input":{"messages":[]},"stream_mode":"values"}`, Spec, LangGraph},
		{"stream_mode empty", "/runs/stream", nil, `{"input":{"messages":[]},"stream_mode":[]}`, Spec, LangGraph},
		{"command", "/runs/stream", nil, `{"assistant_id":"core","command":{"resume":true}}`, Spec, LangGraph},
		{"on_disconnect", "/runs/stream", nil, `{"input":null,"on_disconnect":"cancel"}`, Spec, LangGraph},
		{"context", "/runs/stream", nil, `{"input":{"messages":[]},"context":{}}`, Spec, LangGraph},
		{"a key that nobody knows", "/runs/stream", nil, `{"input":{"messages":[]},"colour":"red"}`, Spec, Spec},
		{"the specification's own", "/runs/stream", nil, `{"input":{"messages":[]},"user_id":"ada","thread_id":"x","auto_approve":true}`, Spec, Spec},
		{"a message with a type", "/runs/stream", nil, `{"input":{"messages":[{"type":"human","content":"x"}]}}`, Spec, LangGraph},
		{"a message with both", "/runs/stream", nil, `{"input":{"messages":[{"type":"human","role":"user","content":"x"}]}}`, Spec, Spec},
		{"an input of another form", "/runs/stream", nil, `{"input":{"question":"x"}}`, Spec, LangGraph},
		{"an input that is nothing in either", "/runs/stream", nil, `{"input":"x"}`, Spec, Spec},
		{"no JSON", "/runs/stream", nil, `{`, Spec, Spec},
		{"no body", "/runs/stream", nil, ``, Spec, Spec},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := httptest.NewRequest("POST", tc.path, nil)
			for i := 0; i < len(tc.headers); i += 2 {
				r.Header.Set(tc.headers[i], tc.headers[i+1])
			}
			got, err := dialectOf(r, []byte(tc.body), tc.otherwise)
			if got != tc.want || (err != nil) != (tc.want == "") {
				t.Errorf("got %q, %v, want %q", got, err, tc.want)
			}
		})
	}
}
