package masked_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/svc-gateway/svc/agents/masked"
	"github.com/svc-gateway/svc/scanner/redact"
)

func TestSameSigns(t *testing.T) {
	for _, tc := range []struct {
		name, was, shown string
		want             bool
	}{
		{"a word", `{"c":"rm --password=hunter2"}`, `{"c":"rm --password=REDACTED"}`, true},
		{"a second command", `{"c":"rm --password=x;reboot"}`, `{"c":"rm --password=REDACTED"}`, false},
		{"in a list", `["a","b;c"]`, `["a","REDACTED"]`, false},
		{"a shorter list", `["a","b"]`, `["a"]`, false},
		{"a key less", `{"a":1,"b":2}`, `{"a":1}`, false},
		{"a name that is masked", `{"password=x;reboot":1}`, `{"password=REDACTED":1}`, false},
		{"a word as a name", `{"sk1":null}`, `{"REDACTED":null}`, false},
		{"another type", `{"a":{"b":"c"}}`, `{"a":"REDACTED"}`, false},
		{"numbers", `{"a":1}`, `{"a":1}`, true},
		{"a number that is masked", `{"password":1000000}`, `{"password":0}`, false},
		{"a number in JSON in a text", `{"b":"{\"password\":1000000}"}`, `{"b":"{\"password\":0}"}`, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var was, shown any
			if err := json.Unmarshal([]byte(tc.was), &was); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(tc.shown), &shown); err != nil {
				t.Fatal(err)
			}
			if got := masked.SameSigns(was, shown); got != tc.want {
				t.Errorf("got %t, want %t", got, tc.want)
			}
		})
	}
}

func TestOnlyWords(t *testing.T) {
	for _, tc := range []struct {
		name, was, shown string
		want             bool
	}{
		{"a word", `a=1&password=hunter_2-x&b=2`, `a=1&password=REDACTED&b=2`, true},
		{"another field", `a=1&password=x&role=admin`, `a=1&password=REDACTED`, false},
		{"another value of a list", `password: x,admin`, `password: REDACTED`, false},
		{"a path", `token=x/../admin`, `token=REDACTED`, false},
		{"nothing", `a`, `a`, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := masked.OnlyWords(map[string]any{"body": tc.was}, map[string]any{"body": tc.shown}); got != tc.want {
				t.Errorf("got %t, want %t", got, tc.want)
			}
		})
	}
}

func TestWhere(t *testing.T) {
	for _, tc := range []struct{ name, was, shown, want string }{
		{"a value", `{"a":"b","password":"x;y"}`, `{"a":"b","password":"REDACTED"}`, "password"},
		{"below names and lists", `{"a":{"l":[1,"x;y"]}}`, `{"a":{"l":[1,"REDACTED"]}}`, "a.l.1"},
		{"the first by name", `{"b":"x;","a":"x;"}`, `{"b":"x","a":"x"}`, "a"},
		{"a name", `{"a":{"x;y":1}}`, `{"a":{"REDACTED":1}}`, "a"},
		{"a name at the top", `{"x;y":1}`, `{"REDACTED":1}`, ""},
		{"a shorter list", `{"a":["b","c"]}`, `{"a":["b"]}`, "a"},
		{"another type", `{"a":["b"]}`, `{"a":"b"}`, "a"},
		{"nothing", `{"a":"word"}`, `{"a":"REDACTED"}`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var was, shown any
			if err := errors.Join(json.Unmarshal([]byte(tc.was), &was), json.Unmarshal([]byte(tc.shown), &shown)); err != nil {
				t.Fatal(err)
			}
			if got := masked.Where(was, shown, masked.OnlyWords); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// What is masked by its own name is a plain word; what is masked by the name of what holds it may be anything.
func TestPlain(t *testing.T) {
	redact := redact.NewSecrets().RedactJSON
	for doc, want := range map[string]bool{
		`{"a":"b"}`:                                                       true,
		`{"password":"hunter2tiger"}`:                                     true,
		`{"db":{"password":"hunter2tiger"}}`:                              true,
		`{"password":["now","delete"]}`:                                   false,
		`{"x":{"password":{"do":"delete"}}}`:                              false,
		`{"body":"{\"password\":[\"now\"]}"}`:                             false,
		`{"body":"{\"password\":\"tiger99x\"}"}`:                          true,
		`{"":{"password":{"do":"delete","whose":"carol"}},"\u00000":"x"}`: false,
	} {
		var was, shown any
		if err := errors.Join(json.Unmarshal([]byte(doc), &was), json.Unmarshal(redact([]byte(doc)), &shown)); err != nil {
			t.Fatal(err)
		}
		if got := masked.Plain(was, shown, redact); got != want {
			t.Errorf("%s, shown as %v: got %t, want %t", doc, shown, got, want)
		}
	}
}
