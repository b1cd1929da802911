package masked_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents/masked"
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

func TestUnnamed(t *testing.T) {
	var v, want any
	err := errors.Join(
		json.Unmarshal([]byte(`{"b":{"password":"x"},"a":[{"token":["y"]},1],"c":"z"}`), &v),
		json.Unmarshal([]byte(`{"\u00001":{"password":"x"},"\u00000":[{"\u00000":["y"]},1],"c":"z"}`), &want))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, masked.Unnamed(v)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
