package scan_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/caddymodule/auth/caddytest"
)

const refused = "The request body was refused because it seems to hold an injection (data_exfiltration, role_hijacking)."

func TestRefusalShapes(t *testing.T) {
	problem := `{"type":"about:blank","title":"Unprocessable Entity","status":422,"detail":"` + refused + `","code":"injection_found"}`
	rpc := func(id string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32600,"message":"` + refused + `","data":{"code":"injection_found","status":422}}}`
	}
	openai := `{"error":{"message":"` + refused + `","type":"invalid_request_error","param":null,"code":"injection_found"}}`
	call := func(id string) string {
		return `{"jsonrpc":"2.0",` + id + `"method":"tools/call","params":{"arguments":{"q":"` + attack + `"}}}`
	}
	for _, tt := range []struct{ name, options, body, want string }{
		{"none", "", injected, problem},
		{"openai", "refusals openai", injected, openai},
		{"openai, by the shape", "shape openai", `{"messages":[{"content":"` + attack + `"}]}`, openai},
		{"problem, whatever the shape", "shape openai\nrefusals problem", `{"messages":[{"content":"` + attack + `"}]}`, problem},
		{"anthropic", "shape anthropic", `{"messages":[{"content":"` + attack + `"}]}`, `{"type":"error","error":{"type":"invalid_request_error","message":"` + refused + `"}}`},
		{"ollama", "shape ollama", `{"prompt":"` + attack + `"}`, `{"error":"` + refused + `"}`},
		{"JSON-RPC, a number", "", call(`"id":7,`), rpc("7")},
		{"JSON-RPC, a text", "shape mcp", call(`"id":"a\"b",`), rpc(`"a\"b"`)},
		{"JSON-RPC, a notification", "", call(""), rpc("null")},
		{"JSON-RPC, no id", "", call(`"id":{"a":1},`), rpc("null")},
		{"JSON-RPC, of another version", "", strings.Replace(call(`"id":7,`), "2.0", "1.0", 1), problem},
		{"JSON-RPC that is asked for", "refusals jsonrpc", injected, rpc("null")},
		{"JSON-RPC to others", "refusals openai", call(`"id":7,`), openai},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv, _, _, _ := stage(t, "action block\n"+tt.options)
			resp, body := srv.Do(http.MethodPost, "/", tt.body)
			if d := cmp.Diff(parsed(t, tt.want), parsed(t, body)); d != "" || resp.StatusCode != http.StatusUnprocessableEntity {
				t.Errorf("%s (-want +got):\n%s", resp.Status, d)
			}
			if wanted := "application/json"; strings.HasPrefix(tt.want, `{"type":"about`) == (resp.Header.Get("Content-Type") == wanted) {
				t.Errorf("got the type %q", resp.Header.Get("Content-Type"))
			}
		})
	}
}

func parsed(t *testing.T, text string) (v map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Errorf("%q: %v", text, err)
	}
	return v
}

// TestResponseRefusals holds that a response is refused in the shape too, with the id of its request.
func TestResponseRefusals(t *testing.T) {
	srv, answer, _, _ := stage(t, "action block")
	*answer = reply{header: jsonType(), pieces: []string{`{"jsonrpc":"2.0","id":9,"result":{"content":"` + attack + `"}}`}}
	if resp, body := srv.Do(http.MethodPost, "/", `{"jsonrpc":"2.0","id":9,"method":"tools/list"}`); resp.StatusCode != http.StatusBadGateway || parsed(t, body)["id"] != 9.0 {
		t.Errorf("got %s %s", resp.Status, body)
	}
	*answer = reply{header: map[string]string{"Content-Type": "text/event-stream"}, pieces: []string{"data: {}\n\ndata: {\"a\":\"" + attack + "\"}\n\n"}}
	_, body := srv.Do(http.MethodPost, "/", `{"jsonrpc":"2.0","id":"x","method":"tools/list"}`)
	last, ok := strings.CutPrefix(body, "data: {}\n\ndata: ")
	if !ok || parsed(t, last)["id"] != "x" {
		t.Errorf("got %q", body)
	}
}

// TestRefusalsOfTheSite holds that handle_errors answers before any shape.
func TestRefusalsOfTheSite(t *testing.T) {
	srv := caddytest.Start(t, caddytest.Config{Site: "svc_scan {\naction block\nrefusals openai\n}\nrespond fine\nhandle_errors {\nrespond \"no: {http.svc.refusal.code}\"\n}"})
	if resp, body := srv.Do(http.MethodPost, "/", injected); resp.StatusCode != http.StatusUnprocessableEntity || body != "no: injection_found" {
		t.Errorf("got %s %s", resp.Status, body)
	}
}

func TestChoices(t *testing.T) {
	srv, answer, _, _ := stage(t, "action block\nbodies request {\ntype application/json text/*\npath /v1/*\n}\nbodies response {\ntype application/json\n}")
	for _, tt := range []struct {
		path, contentType string
		status            int
	}{
		{"/v1/chat", "application/json", 422},
		{"/v1//chat", "application/json; charset=utf-8", 422},
		{"/v1/chat", "text/markdown", 422},
		{"/v1/chat", "", 422},
		{"/v1/chat", "application/octet-stream", 422},
		{"/v1/chat", "application/json, image/png", 415},
		{"/v1/chat", "nonsense", 422},
		{"/v1/chat", "application/xml", 200},
		{"/v2/chat", "application/json", 200},
	} {
		*answer = reply{pieces: []string{"fine"}}
		r := srv.Request(http.MethodPost, tt.path, injected, "Content-Type", tt.contentType)
		if tt.contentType == "" {
			r.Header.Del("Content-Type")
		}
		if resp, body := srv.Send(r); resp.StatusCode != tt.status {
			t.Errorf("%s %q: got %s %s, want %d", tt.path, tt.contentType, resp.Status, body, tt.status)
		}
	}
	for contentType, status := range map[string]int{"application/json": 502, "text/plain": 200} {
		*answer = reply{header: map[string]string{"Content-Type": contentType}, pieces: []string{injected}}
		if resp, body := srv.Do(http.MethodGet, "/", ""); resp.StatusCode != status {
			t.Errorf("response, %s: got %s %s, want %d", contentType, resp.Status, body, status)
		}
	}
}

// TestMetrics holds that findings, bytes and time are counted by server and side, however many stages
// there are.
func TestMetrics(t *testing.T) {
	srv := caddytest.Start(t, caddytest.Config{Site: "route {\nmetrics /metrics\nsvc_scan /a {\naction block\n}\nsvc_scan /b\nrespond fine\n}"})
	srv.Do(http.MethodPost, "/a", injected)
	srv.Do(http.MethodPost, "/b", injected)
	_, body := srv.Do(http.MethodGet, "/metrics", "")
	for _, want := range []string{
		`svc_scan_findings_total{action="block",category="role_hijacking",server="srv0",side="request",site="127.0.0.1"} 1`,
		`svc_scan_findings_total{action="log",category="data_exfiltration",server="srv0",side="request",site="127.0.0.1"} 1`,
		`svc_scan_bytes_total{server="srv0",side="request",site="127.0.0.1"} 142`,
		`svc_scan_seconds_count{server="srv0",side="request",site="127.0.0.1"} 2`,
	} {
		if !strings.Contains(body, want+"\n") {
			t.Errorf("no %s in\n%s", want, grep(body, "svc_scan"))
		}
	}
}

func grep(text, word string) string {
	var found []string
	for line := range strings.Lines(text) {
		if strings.Contains(line, word) {
			found = append(found, line)
		}
	}
	return strings.Join(found, "")
}
