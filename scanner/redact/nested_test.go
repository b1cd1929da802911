package redact

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// nest writes a document as a string, so many times.
func nest(doc string, times int) string {
	for range times {
		doc = string(quote(doc))
	}
	return doc
}

// JSON in strings is read as JSON at every level: secrets go, and nothing else changes.
func TestNestedJSON(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"key", `{"password":"hunter2","a":1}`, `{"password":"REDACTED","a":1}`},
		{"escaped key", `{"p\u0061ssword":"hunter2"}`, `{"p\u0061ssword":"REDACTED"}`},
		{"line end before the word", `{"cmd":"x\napi_key: 'abc' y"}`, `{"cmd":"x\napi_key: 'REDACTED' y"}`},
		{"line of a device", `{"config":"hostname x\ntacacs-server key 7 0822455D0A16\nend"}`, `{"config":"hostname x\ntacacs-server key 7 REDACTED\nend"}`},
		{"escaped markup", `{"xml":"\u003cpassword\u003ehunter2\u003c/password\u003e"}`, `{"xml":"\u003cpassword\u003eREDACTED\u003c/password\u003e"}`},
		{"value with escapes", `{"secret":"a\"b\\\u00e9","b":"c"}`, `{"secret":"REDACTED","b":"c"}`},
		{"token after a line end", `{"t":"\nghp_Zx81Qm0aVb72Lc93NdKe64PfRg05ShTi1Uj2"}`, `{"t":"\nREDACTED"}`},
		{"array of flags", `["mysql","--password","x","db"]`, `["mysql","--password","REDACTED","db"]`},
		{"name and value", `[{"name":"DB_PASSWORD","value":"x"}]`, `[{"name":"DB_PASSWORD","value":"REDACTED"}]`},
		{"value and name", `{"value":"hunter2secret","name":"password"}`, `{"value":"REDACTED","name":"password"}`},
		{"value and name among others", `{"a":[{"id":1,"value":"hunter2\u0041\"x","other":{"b":["c"]},"name":"DB_PASSWORD"},{"value":"y","name":"A"}],"value":"z"}`, `{"a":[{"id":1,"value":"REDACTED","other":{"b":["c"]},"name":"DB_PASSWORD"},{"value":"y","name":"A"}],"value":"z"}`},
		{"value that is JSON and name", `{"value":"{\"value\":\"hunter2\",\"name\":\"password\"}","name":"x"}`, `{"value":"{\"value\":\"REDACTED\",\"name\":\"password\"}","name":"x"}`},
		{"value, then no JSON", `{"value":"hunter2","name" password: hunter2`, `{"value":"hunter2","name" password: REDACTED`},
		{"value and a cut", `{"value":"hunter2","na`, ""},
		{"number", `{"password":12345678,"n":12345678}`, `{"password":0,"n":12345678}`},
		{"private key", `{"k":"-----BEGIN RSA PRIVATE KEY-----\n` + pemBody64 + `\n-----END RSA PRIVATE KEY-----\n"}`, `{"k":"-----BEGIN RSA PRIVATE KEY-----\nREDACTED\n-----END RSA PRIVATE KEY-----\n"}`},
		{"untouched", "{ \"a\" : \"\\u00E9\\ud83d\\ude00\\/ \u00e9\", \n\"b\":[1.5e3,true,null,-0] }", ""},
		{"bad escapes", `{"a":"\q\u12x \ud800\u0041 password=x\"","b":1}`, `{"a":"\q\u12x \ud800\u0041 password=REDACTED\"","b":1}`},
		{"no JSON after all", `{"a":1} password: hunter2`, `{"a":1} password: REDACTED`},
		{"brackets", `[link](https://u:p1@h/) [1] secret=x`, `[link](https://u:REDACTED@h/) [1] secret=REDACTED`},
		{"cut off", `{"password":"hunt`, `{"password":"REDACTED`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := tt.want
			if want == "" {
				want = tt.in
			}
			for level := 1; level < 5; level++ {
				doc, wantDoc := nest(tt.in, level), nest(want, level)
				for n := range byte(7) {
					if got := split(NewJSONStream(), doc, []byte{n}); got != wantDoc {
						t.Fatalf("at level %d, in pieces of %d:\n got %s\nwant %s", level, n+1, got, wantDoc)
					}
				}
			}
		})
	}
}

// argumentStreams are how services stream the arguments of a tool call.
var argumentStreams = map[string][2]string{ // what an event is, and the last one
	"OpenAI":    {`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":%s}}]}}]}`, "data: [DONE]"},
	"Anthropic": {"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":%s}}", "event: message_stop\ndata: {\"type\":\"message_stop\"}"},
	"Responses": {`data: {"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":0,"delta":%s}`, `data: {"type":"response.completed"}`},
	"Ollama":    {`data: {"model":"m","message":{"role":"assistant","content":%s},"done":false}`, `data: {"done":true}`},
	"LangGraph": {"event: messages\ndata: [{\"type\":\"AIMessageChunk\",\"id\":\"r1\",\"tool_call_chunks\":[{\"index\":0,\"args\":%s}]},{\"langgraph_step\":1}]", "event: end\ndata: {}"},
}

// Arguments come in pieces. However they are cut, no secret in them passes and nothing else is lost.
func TestStreamedArguments(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`{"cmd":"x\napi_key: 'Zx81Qm0aVb72' y"}`, `{"cmd":"x\napi_key: 'REDACTED' y"}`},
		{`{"cmd":"x\ntacacs-server key 7 0822455D0A16\n"}`, `{"cmd":"x\ntacacs-server key 7 REDACTED\n"}`},
		{`{"x":"\u003cpassword\u003ehunter2\u003c/password\u003e","n":1}`, `{"x":"\u003cpassword\u003eREDACTED\u003c/password\u003e","n":1}`},
		{`{"a":"{\"b\":\"{\\\"p\\\\u0061ssword\\\":\\\"hunter2\\\"}\"}"}`, `{"a":"{\"b\":\"{\\\"p\\\\u0061ssword\\\":\\\"REDACTED\\\"}\"}"}`},
		{`{"password": "hunter2", "path": "C:\\new", "list": [true, null, 12.5]}`, `{"password": "REDACTED", "path": "C:\\new", "list": [true, null, 12.5]}`},
		{`{"value":"hunter2secret","name":"password"}`, `{"value":"REDACTED","name":"password"}`},
		{`{"env":[{"value":"a \"b\" \u00e9","name":"colour"},{"value":"hunter2\\x","n":[1,{}],"name":"DB_PASSWORD"}],"x":1}`, `{"env":[{"value":"a \"b\" \u00e9","name":"colour"},{"value":"REDACTED","n":[1,{}],"name":"DB_PASSWORD"}],"x":1}`},
		{`{"value":"nothing to hide, whatever its name is","path":"/etc/hosts"}`, `{"value":"nothing to hide, whatever its name is","path":"/etc/hosts"}`},
		{`{"a":"{\"value\":\"hunter2\",\"key\":\"secret\"}"}`, `{"a":"{\"value\":\"REDACTED\",\"key\":\"secret\"}"}`},
		{`{"a":"the tokens of ghosts\\"}`, `{"a":"the tokens of ghosts\\"}`},
	} {
		for name, form := range argumentStreams {
			for n := 1; n < len(tt.in); n++ {
				var events, all strings.Builder
				for rest := tt.in; rest != ""; {
					k := min(n, len(rest))
					fmt.Fprintf(&events, form[0]+"\n\n", quote(rest[:k]))
					rest = rest[k:]
				}
				events.WriteString(form[1] + "\n\n")
				out := redactEvents(events.String())
				for _, event := range strings.Split(out, "\n\n") {
					all.WriteString(longestString(t, event))
				}
				if got := all.String(); got != tt.want {
					t.Errorf("%s, in pieces of %d:\n got %s\nwant %s\n%s", name, n, got, tt.want, out)
				}
			}
		}
	}
}

// longestString returns the piece that an event of argumentStreams carries.
func longestString(t *testing.T, event string) string {
	t.Helper()
	for _, key := range []string{`"arguments":`, `"partial_json":`, `"delta":"`, `"content":`, `"args":`} {
		_, rest, ok := strings.Cut(event, strings.TrimSuffix(key, `"`))
		if !ok || rest[0] != '"' {
			continue
		}
		var s string
		if err := json.NewDecoder(strings.NewReader(rest)).Decode(&s); err != nil {
			t.Fatalf("%v in %s", err, event)
		}
		return s
	}
	return ""
}

// FuzzNested reads a text as a string in a document, and that one as a string again.
func FuzzNested(f *testing.F) {
	f.Add(`{"password":"x","a":"b\\n"}`, []byte{0})
	for _, c := range [][]byte{{0, 21, 3}, {0, 8, 5, 9, 1}, {2, 30, 31, 6}} {
		f.Add(assembleJSON(c), []byte{0})
	}
	f.Fuzz(func(t *testing.T, doc string, cuts []byte) {
		for level := 1; level < 3; level++ {
			checkJSON(t, nest(strings.ToValidUTF8(doc, "?"), level), cuts)
		}
	})
}
