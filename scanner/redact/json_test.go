package redact

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestJSON(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"words that stand for a secret", `{"password":"your-password","api_key":"${{ secrets.KEY }}","secret":"your-x1"}`, `{"password":"your-password","api_key":"${{ secrets.KEY }}","secret":"REDACTED"}`},
		{"string", `{"password": "hunter2", "a":1}`, `{"password": "REDACTED", "a":1}`},
		{"empty", `{"password":""}`, `{"password":""}`},
		{"long number", `{"password":12345678,"pin":4711,"secret":4711,"api_key":123456,"port":12345678}`, `{"password":0,"pin":4711,"secret":4711,"api_key":0,"port":12345678}`},
		{"number", `{"password":-12.5e3,"secret":[1,{"a":2}]}`, `{"password":-12.5e3,"secret":[1,{"a":2}]}`},
		{"no secret", `{"password":null,"secret":true}`, `{"password":null,"secret":true}`},
		{"array", `{"secret":["a",["b"],2]}`, `{"secret":["REDACTED",["REDACTED"],2]}`},
		{"object", `{"client_secret":{"x":"a","y":{"z":"b"}},"c":"d"}`, `{"client_secret":{"x":"REDACTED","y":{"z":"REDACTED"}},"c":"d"}`},
		{"escaped key", `{"pass\u0077ord":"hunter2"}`, `{"pass\u0077ord":"REDACTED"}`},
		{"text", `{"t":"password: hunter2\nx"}`, `{"t":"password: REDACTED\nx"}`},
		{"escaped text", `{"t":"\u0070assword\u003d\u0068unter2\u0020\u00e9\/"}`, `{"t":"\u0070assword\u003dREDACTED\u0020\u00e9\/"}`},
		{"document in text", `{"t":"{\"password\": \"a\\\"b\", \"x\": 1}"}`, `{"t":"{\"password\": \"REDACTED\", \"x\": 1}"}`},
		{"untouched", "{ \"a\" : \"\\u00E9\\ud83d\\ude00\\/\" ,\n\"b\":[ ]}", "{ \"a\" : \"\\u00E9\\ud83d\\ude00\\/\" ,\n\"b\":[ ]}"},
		{"name and value", `[{"name":"DB_PASSWORD","value":"x"},{"name":"A","value":"y"}]`, `[{"name":"DB_PASSWORD","value":"REDACTED"},{"name":"A","value":"y"}]`},
		{"arguments", `["mysql","--password","x","db"]`, `["mysql","--password","REDACTED","db"]`},
		{"schema", `{"properties":{"password":{"type":"string"}}}`, `{"properties":{"password":{"type":"string"}}}`},
		{"strings apart", `["password:","hunter2"]`, `["password:","hunter2"]`},
		{"key", `{"password=hunter2":1}`, `{"password=REDACTED":1}`},
		{"documents", "{\"password\":\"x\"}\n{\"password\":\"y\"}\n", "{\"password\":\"REDACTED\"}\n{\"password\":\"REDACTED\"}\n"},
		{"truncated", `{"password":"hunt`, `{"password":"REDACTED`},
		{"broken", `{"a":1,"password":hunter2,"b":"password=x"}`, `{"a":1,"password":REDACTED,"b":"password=REDACTED"}`},
		{"not JSON", `password: hunter2`, `password: REDACTED`},
		{"bad escapes", `{"a":"\q\u12x \ud800\u0041 password=x\"","b":1}`, `{"a":"\q\u12x \ud800\u0041 password=REDACTED\"","b":1}`},
		{"newline in secret", "{\"password\":\"a\nb\",\"c\":1}", `{"password":"REDACTED","c":1}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(JSON([]byte(tt.in))); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			for n := range byte(4) {
				if got := split(NewJSONStream(), tt.in, []byte{n}); got != tt.want {
					t.Errorf("in pieces of %d:\ngot  %s\nwant %s", n+1, got, tt.want)
				}
			}
		})
	}
}

func checkJSON(t *testing.T, doc string, cuts []byte) {
	t.Helper()
	whole := string(JSON([]byte(doc)))
	if got := split(NewJSONStream(), doc, cuts); got != whole {
		t.Fatalf("JSON(%s), cut by %v:\n got %s\nwant %s", doc, cuts, got, whole)
	}
	if json.Valid([]byte(doc)) && !json.Valid([]byte(whole)) {
		t.Fatalf("JSON(%s)\n= %s\nis not JSON", doc, whole)
	}
	if new(Secrets).Clean([]byte(doc)) && whole != doc {
		t.Fatalf("JSON(%s)\n= %s\nthough it is clean", doc, whole)
	}
}

func FuzzJSON(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s, []byte{0})
		doc, _ := json.Marshal(map[string]any{"a": s, "password": []any{s, 1}})
		f.Add(string(doc), []byte{0})
	}
	f.Fuzz(checkJSON)
}

// jsonFragments are put together by FuzzJSONFragments, and so are the fragments of text.
var jsonFragments = strings.Split(`{|}|[|]|:|,|"|"|"a"|"password"|"secret":|"password":"|"password":{|"name":"|"value":"|{"properties":{|12|-1|true|nul|null|\u0070|\ud83d\ude00|\ud83d|\"|\\|\n|\q|\u00`, "|")

func FuzzJSONFragments(f *testing.F) {
	f.Add([]byte{0, 21, 3}, []byte{0})
	f.Fuzz(func(t *testing.T, choice, cuts []byte) { checkJSON(t, assembleJSON(choice), cuts) })
}

func assembleJSON(choice []byte) string {
	var b strings.Builder
	for _, c := range choice {
		if n := int(c); n < 4*len(jsonFragments) {
			b.WriteString(jsonFragments[n%len(jsonFragments)])
		} else {
			b.WriteString(fragments[n*7%len(fragments)])
		}
	}
	return b.String()
}
