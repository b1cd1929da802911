package api_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"

	"github.com/svc-gateway/svc/agents/api"
)

func TestOpenAPIDocumentIsValidAndComplete(t *testing.T) {
	s := newServer(t, parrot{})
	status, _, body := s.do("ada", "GET", "/openapi.json", nil)
	if status != 200 {
		t.Fatalf("got %d %s", status, body)
	}
	doc, err := libopenapi.NewDocument([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	v, errs := validator.NewValidator(doc)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if ok, problems := v.ValidateDocument(); !ok {
		for _, p := range problems {
			t.Errorf("%s: %s %v", p.Message, p.Reason, p.SchemaValidationErrors)
		}
	}
	var parsed struct {
		OpenAPI string `json:"openapi"`
		Paths   map[string]map[string]struct {
			Security  []any          `json:"security"`
			Responses map[string]any `json:"responses"`
		} `json:"paths"`
	}
	if err := json.Unmarshal([]byte(body), &parsed); err != nil || !strings.HasPrefix(parsed.OpenAPI, "3.1.") {
		t.Fatalf("version %q, %v", parsed.OpenAPI, err)
	}
	described := 0
	for _, operations := range parsed.Paths {
		described += len(operations)
	}
	served := api.Endpoints()
	if described != len(served) {
		t.Errorf("%d operations are described, %d served", described, len(served))
	}
	for _, e := range served {
		op, ok := parsed.Paths[e.Path][strings.ToLower(e.Method)]
		if !ok {
			t.Errorf("%s %s is not described", e.Method, e.Path)
			continue
		}
		if open := e.Path == "/health"; open == (len(op.Security) > 0) {
			t.Errorf("%s %s: security %v", e.Method, e.Path, op.Security)
		}
		path := strings.NewReplacer("{thread_id}", "x", "{run_id}", "x", "{assistant_id}", "core", "{namespace}", "tools").Replace(e.Path)
		if status, _, _ := s.do("ada", e.Method, path, nil); status == 404 || status == 405 {
			t.Errorf("%s %s is described and not served: %d", e.Method, e.Path, status)
		}
	}
}

func TestDocsWorkOffline(t *testing.T) {
	s := newServer(t, parrot{})
	status, header, body := s.do("ada", "GET", "/docs", nil)
	if status != 200 || !strings.HasPrefix(header.Get("Content-Type"), "text/html") || !strings.Contains(body, "/openapi.json") {
		t.Fatalf("got %d %s %.300s", status, header.Get("Content-Type"), body)
	}
	loaded := regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(body, -1)
	if len(loaded) == 0 {
		t.Errorf("the page loads nothing: %.300s", body)
	}
	for _, m := range loaded {
		if !strings.HasPrefix(m[1], "/docs/") {
			t.Errorf("the page loads %s", m[1])
		} else if status, _, _ := s.do("ada", "GET", m[1], nil); status != 200 {
			t.Errorf("%s: got %d", m[1], status)
		}
	}
}
