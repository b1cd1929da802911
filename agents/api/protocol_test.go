package api_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// published are the endpoints of the agent server protocol that clients call, with the members that a body
// must have.
var published = []struct{ methods, path, required string }{
	{"GET PATCH DELETE", "/assistants/{}", ""},
	{"GET", "/assistants/{}/graph", ""},
	{"GET", "/assistants/{}/schemas", ""},
	{"GET", "/assistants/{}/subgraphs", ""},
	{"GET", "/assistants/{}/subgraphs/{}", ""},
	{"POST", "/assistants", "graph_id"},
	{"POST", "/assistants/search", ""},
	{"POST", "/assistants/count", ""},
	{"POST", "/assistants/{}/versions", ""},
	{"POST", "/assistants/{}/latest", "version"},
	{"POST", "/threads", ""},
	{"GET PATCH DELETE", "/threads/{}", ""},
	{"POST", "/threads/{}/copy", ""},
	{"POST", "/threads/search", ""},
	{"POST", "/threads/count", ""},
	{"POST", "/threads/prune", "thread_ids"},
	{"GET POST PATCH", "/threads/{}/state", ""},
	{"GET", "/threads/{}/state/{}", ""},
	{"POST", "/threads/{}/state/checkpoint", "checkpoint"},
	{"GET POST", "/threads/{}/history", ""},
	{"GET", "/threads/{}/stream", ""},
	{"POST", "/threads/{}/runs/stream", "assistant_id"},
	{"POST", "/runs/stream", "assistant_id"},
	{"POST", "/threads/{}/runs/wait", "assistant_id"},
	{"POST", "/runs/wait", "assistant_id"},
	{"POST", "/threads/{}/runs", "assistant_id"},
	{"POST", "/runs", "assistant_id"},
	{"POST", "/runs/batch", "assistant_id"},
	{"GET", "/threads/{}/runs", ""},
	{"GET DELETE", "/threads/{}/runs/{}", ""},
	{"POST", "/threads/{}/runs/{}/cancel", ""},
	{"POST", "/runs/cancel", ""},
	{"GET", "/threads/{}/runs/{}/join", ""},
	{"GET", "/threads/{}/runs/{}/stream", ""},
	{"GET", "/runs/{}/stream", ""},
	{"POST", "/runs/crons", "assistant_id schedule"},
	{"POST", "/threads/{}/runs/crons", "assistant_id schedule"},
	{"PATCH DELETE", "/runs/crons/{}", ""},
	{"POST", "/runs/crons/search", ""},
	{"POST", "/runs/crons/count", ""},
	{"PUT", "/store/items", "namespace key value"},
	{"GET", "/store/items", ""},
	{"DELETE", "/store/items", "namespace key"},
	{"POST", "/store/items/search", ""},
	{"POST", "/store/namespaces", ""},
	{"POST", "/threads/{}/commands", "id method"},
	{"GET", "/threads/{}/stream/events", ""},
	{"POST", "/threads/{}/stream/events", "channels"},
	{"GET", "/ok", ""},
	{"GET", "/info", ""},
	{"GET", "/metrics", ""},
	{"GET", "/openapi.json", ""},
	{"GET", "/docs", ""},
	{"POST", "/ui/{}", ""},
	{"GET POST DELETE", "/mcp/", ""},
}

// schema is what these tests read of a schema.
type schema struct {
	Ref      string   `json:"$ref"`
	OneOf    []schema `json:"oneOf"`
	Items    *schema  `json:"items"`
	Required []string `json:"required"`
}

// The OpenAPI document has what the protocol has, and docs/api.md says what it has not.
func TestPublishedProtocol(t *testing.T) {
	s := newServer(t, parrot{})
	_, _, body := s.do("ada", "GET", "/openapi.json", nil)
	var doc struct {
		Paths map[string]map[string]struct {
			RequestBody struct {
				Content map[string]struct{ Schema schema }
			}
		}
		Components struct{ Schemas map[string]schema }
	}
	if err := json.Unmarshal([]byte(body), &doc); err != nil {
		t.Fatal(err)
	}
	var required func(schema) []string
	required = func(s schema) []string {
		switch {
		case s.Ref != "":
			return required(doc.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")])
		case len(s.OneOf) > 0: // the specification's dialect, and this one
			return required(s.OneOf[len(s.OneOf)-1])
		case s.Items != nil:
			return required(*s.Items)
		}
		return s.Required
	}
	parameter := regexp.MustCompile(`\{[^}]*\}`)
	served := map[string][]string{}
	for path, operations := range doc.Paths {
		for method, op := range operations {
			names := required(op.RequestBody.Content["application/json"].Schema)
			slices.Sort(names)
			served[strings.ToUpper(method)+" "+parameter.ReplaceAllString(path, "{}")] = names
		}
	}
	text, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n### What is not served\n")
	section, _, _ = strings.Cut(section, "\n#")
	missing := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([A-Z]+) (\\S+)` \\| .+ \\|$").FindAllStringSubmatch(section, -1) {
		missing[m[1]+" "+parameter.ReplaceAllString(m[2], "{}")] = true
	}
	if len(missing) == 0 {
		t.Error("docs/api.md lists nothing that is not served")
	}
	for _, e := range published {
		for method := range strings.FieldsSeq(e.methods) {
			key := method + " " + e.path
			names, ok := served[key]
			if ok == missing[key] {
				t.Errorf("%s: served %t, listed as not served in docs/api.md: %t", key, ok, missing[key])
			}
			delete(missing, key)
			var want []string
			if method == "POST" || method == "PUT" || method == "DELETE" && e.path == "/store/items" {
				want = strings.Fields(e.required)
			}
			slices.Sort(want)
			if diff := cmp.Diff(want, slices.Clip(names)); ok && len(want)+len(names) > 0 && diff != "" {
				t.Errorf("%s: required members (-published +ours):\n%s", key, diff)
			}
		}
	}
	for key := range missing {
		t.Errorf("docs/api.md lists %s, which the protocol does not have", key)
	}
}
