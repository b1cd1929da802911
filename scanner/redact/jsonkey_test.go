package redact

import (
	"strings"
	"testing"
)

func TestJSONKeys(t *testing.T) {
	long := strings.Repeat("x", maxLate)
	for _, tt := range []struct{ name, in, want string }{
		{"value before the name", `[{"value":"hunter2","name":"password"},{"value":"b","name":"user"}]`, `[{"value":"REDACTED","name":"password"},{"value":"b","name":"user"}]`},
		{"value before the name, not next to it", `{"value":"hunter2","type":"x","n":[{"name":"user"}],"name":"DB_PASSWORD","z":1}`, `{"value":"REDACTED","type":"x","n":[{"name":"user"}],"name":"DB_PASSWORD","z":1}`},
		{"number before the name", `{"value": 1234 ,"name":"password"}`, ""},
		{"capitals", `{"Name":"DB_PASSWORD","Value":"hunter2"}`, `{"Name":"DB_PASSWORD","Value":"REDACTED"}`},
		{"key and val", `{"key":"secret","val":"hunter2"}`, `{"key":"secret","val":"REDACTED"}`},
		{"a value without a name", `{"value":"hunter2"}`, ""},
		{"a value and the name of something else", `{"value":"hunter2","name":"user"}`, ""},
		{"more than is held back", `{"value":"` + long + `","name":"password"}`, ""},
		{"messages of a form", `{"errors":{"password":["can't be blank","is too short"]}}`, ""},
		{"message of a form", `{"errors":{"password":"Password is required"}}`, ""},
		{"labels", `{"labels":{"password":"Password","secret":"Secret word"}}`, ""},
		{"echo of a form", `{"errors":{"password":"hunter2"}}`, `{"errors":{"password":"REDACTED"}}`},
		{"schema", `{"password":{"type":"string","description":"The password of the user","minLength":8}}`, ""},
		{"default of a schema", `{"password":{"type":"string","default":"hunter2"}}`, `{"password":{"type":"string","default":"REDACTED"}}`},
		{"object of secrets", `{"secret":{"db":"hunter2","n":1}}`, `{"secret":{"db":"REDACTED","n":1}}`},
		{"what is known of a secret", `{"client_secret":{"value":"ek_1","expires_at":1756,"type":"x","created_at":"2026","rotated":["a"]},"type":"y"}`, `{"client_secret":{"value":"REDACTED","expires_at":1756,"type":"x","created_at":"2026","rotated":["REDACTED"]},"type":"y"}`},
		{"a key as the type of a secret", `{"client_secret":{"type":"AKIAQ3EGRIL2VN7UTXJ5"}}`, `{"client_secret":{"type":"REDACTED"}}`},
		{"token of a model", `{"token":" hello","logprob":-0.1,"tokens":["a","b"],"total_tokens":15}`, ""},
		{"token of a session", `{"access_token":"q2Lr9Tn4Vd0WkJm3","expires_in":3600}`, `{"access_token":"REDACTED","expires_in":3600}`},
		{"api key", `{"apiKey":"abc","api_key_env":"MODEL_KEY","primary_key":"id"}`, `{"apiKey":"REDACTED","api_key_env":"MODEL_KEY","primary_key":"id"}`},
		{"JSON in JSON", `{"a":"{\"password\":\"a\\\"b\",\"x\":\"y\"}"}`, `{"a":"{\"password\":\"REDACTED\",\"x\":\"y\"}"}`},
		{"flags", `{"args":["--password","x","-v"]}`, `{"args":["--password","REDACTED","-v"]}`},
		{"vendor key", `{"a":"AKIAQ3EGRIL2VN7UTXJ5"}`, `{"a":"REDACTED"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := tt.want
			if want == "" {
				want = tt.in
			}
			cuts := []byte{0}
			if len(tt.in) > maxLate {
				cuts = []byte{16}
			}
			if got := split(NewJSONStream(), tt.in, cuts); got != want {
				t.Errorf("got  %.300s\nwant %.300s", got, want)
			}
			if strings.Contains(tt.name, "more than") {
				return
			}
			if got, want := redactEvents("data: "+tt.in+"\n\n"), "data: "+want+"\n\n"; got != want {
				t.Errorf("as an event: got  %.300s\nwant %.300s", got, want)
			}
		})
	}
}
