package settings_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHTTPCredentials(t *testing.T) {
	s, err := modelsOf(t, `{"fetch": {"hosts": ["*.example.org:8443", "http://10.1.2.3"]}, "http_credentials": [
		{"name": "a", "host": "API.example.org:8443", "prefix": "Bearer", "value": "{env.A}"},
		{"name": "b", "host": "http://10.1.2.3", "header": "X-Api-Key", "value": "{file./b}"}
	]}`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range s.HTTPCredentials() {
		u, err := c.Server()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, u.String()+" "+c.Header)
	}
	if d := cmp.Diff([]string{"https://api.example.org:8443 Authorization", "http://10.1.2.3 X-Api-Key"}, got); d != "" {
		t.Error(d)
	}
}

func TestHTTPCredentialsThatCannotBe(t *testing.T) {
	for _, tt := range []struct{ name, fields, says string }{
		{"no host", `"value": "{env.A}"`, "host is missing: write the one server"},
		{"no value", `"host": "a.example"`, "value is missing: write where the credential is"},
		{"the secret itself", `"host": "a.example", "value": "tiger-lion-42"`, "never the secret itself"},
		{"many servers", `"host": "*.example", "value": "{env.A}"`, "host"},
		{"a path", `"host": "a.example/items", "value": "{env.A}"`, "it is more than one server"},
		{"a query", `"host": "a.example?x", "value": "{env.A}"`, "it is more than one server"},
		{"not listed", `"host": "b.example", "value": "{env.A}"`, "http_credentials: n.host: it would never be sent, since fetch.hosts does not list this server"},
		{"another port", `"host": "a.example:444", "value": "{env.A}"`, "it would never be sent"},
		{"in clear", `"host": "http://a.example", "value": "{env.A}"`, "it would never be sent"},
		{"Host", `"host": "a.example", "header": "host", "value": "{env.A}"`, "host is no header for a credential"},
		{"no header", `"host": "a.example", "header": "a b", "value": "{env.A}"`, "not the name of a header"},
		{"the secret as prefix", `"host": "a.example", "prefix": "Bearer tiger", "value": "{env.A}"`, "this is not one word"},
		{"twice", `"host": "a.example", "value": "{env.A}"}, {"name": "m", "host": "https://A.example:443", "header": "authorization", "value": "{env.B}"`, "m.header: n sends authorization to this server already"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := modelsOf(t, `{"fetch": {"hosts": ["a.example"]}, "http_credentials": [{"name": "n", `+tt.fields+`}]}`)
			if err == nil || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "tiger") {
				t.Errorf("got %v, want %q", err, tt.says)
			}
		})
	}
}
