package redact

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAllowed(t *testing.T) {
	known := NewSecrets().With("tiger-lion-42")
	for _, tt := range []struct {
		name     string
		allowed  Allowed
		in, want string
	}{
		{"nothing", Allowed{}, `{"password":"x","a":"AKIAQ3EGRIL2VN7UTXJ5"}`, `{"password":"REDACTED","a":"REDACTED"}`},
		{"a field", Allowed{Fields: []string{"password"}}, `{"a":{"Password":"x"},"secret":"y","t":"password: z"}`, `{"a":{"Password":"x"},"secret":"REDACTED","t":"password: REDACTED"}`},
		{"all below a field", Allowed{Fields: []string{"client_secret"}}, `{"client_secret":{"value":"x","token":["AKIAQ3EGRIL2VN7UTXJ5","password: y"]},"password":"z"}`, `{"client_secret":{"value":"x","token":["AKIAQ3EGRIL2VN7UTXJ5","password: y"]},"password":"REDACTED"}`},
		{"a path", Allowed{Fields: []string{"data.*.secret"}}, `{"data":[{"secret":"x"},{"secret":"y"}],"secret":"z"}`, `{"data":[{"secret":"x"},{"secret":"y"}],"secret":"REDACTED"}`},
		{"another path", Allowed{Fields: []string{"data.secret"}}, `{"data":[{"secret":"x"}]}`, `{"data":[{"secret":"REDACTED"}]}`},
		{"a known secret in a field", Allowed{Fields: []string{"password"}}, `{"password":"tiger-lion-42 x"}`, `{"password":"REDACTED x"}`},
		{"a rule", Allowed{Rules: []string{"password"}}, `{"password":"x","secret":"y","t":"password: x, secret: y"}`, `{"password":"x","secret":"REDACTED","t":"password: x, secret: REDACTED"}`},
		{"a rule of a vendor", Allowed{Rules: []string{"aws_access_key"}}, `{"a":"AKIAQ3EGRIL2VN7UTXJ5"}`, `{"a":"AKIAQ3EGRIL2VN7UTXJ5"}`},
		{"all", Allowed{All: true}, `{"password":["x"],"a":["--password","AKIAQ3EGRIL2VN7UTXJ5"],"errors":{"password":"x1"},"b":"tiger-lion-42"}`, `{"password":["x"],"a":["--password","AKIAQ3EGRIL2VN7UTXJ5"],"errors":{"password":"x1"},"b":"REDACTED"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			set := known.Watched(&tt.allowed, nil)
			if got := split(set.JSONStream(), tt.in, []byte{0}); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if got := split(set.LineStream(), tt.in+"\n"+tt.in+"\n", []byte{5}); got != tt.want+"\n"+tt.want+"\n" {
				t.Errorf("as lines: got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestFindings(t *testing.T) {
	var got []Finding
	set := NewSecrets().With("tiger-lion-42").Watched(nil, func(f Finding) { got = append(got, f) })
	set.RedactJSON([]byte(`{"a":[{"password":"x"},"see https://u:p@h and tiger-lion-42"],"value":"y","name":"secret"}`))
	want := []Finding{{"password", "/a/0/password"}, {"url_password", "/a/1"}, {KnownSecret, "/a/1"}, {namedValue, "/name"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	names := RuleNames()
	for _, f := range got {
		if !slices.Contains(names, f.Rule) {
			t.Errorf("%s is no name of a rule", f.Rule)
		}
	}
	if got := set.Known("password: x, tiger-lion-42"); got != "password: x, REDACTED" {
		t.Errorf("Known: got %q", got)
	}
}
