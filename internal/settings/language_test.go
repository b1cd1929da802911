package settings_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/internal/settings"
)

func TestLanguages(t *testing.T) {
	s, _, err := settings.Resolve(settings.Layers{File: file(t,
		`{"languages": [{"name": "node", "program": "/opt/node/bin/node", "extension": "js", "paths": ["/opt/node", "/opt/lib"]}, {"name": "perl", "program": "perl", "extension": "pl"}]}`)})
	if err != nil {
		t.Fatal(err)
	}
	want := []settings.Language{
		{Name: "node", Program: "/opt/node/bin/node", Extension: "js", Paths: []string{"/opt/node", "/opt/lib"}},
		{Name: "perl", Program: "perl", Extension: "pl"},
	}
	if d := cmp.Diff(want, s.Languages()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestLanguageErrors(t *testing.T) {
	const whole = `"name": "a", "program": "a", "extension": "a"`
	for _, tt := range []struct{ name, doc, want string }{
		{"no program", `{"languages": [{"name": "a"}]}`, `languages[0]: program is missing: write the program that runs a file`},
		{"no extension", `{"languages": [{"name": "a"}]}`, `languages[0]: extension is missing`},
		{"arguments", `{"languages": [{"program": "deno run"}]}`, `languages[0]: program: "deno run" is no program: write an absolute path`},
		{"relative", `{"languages": [{"program": "bin/node"}]}`, `languages[0]: program: "bin/node" is no program`},
		{"dots", `{"languages": [{"program": "/opt/../node"}]}`, `languages[0]: program: "/opt/../node" is no program`},
		{"option", `{"languages": [{"program": "-c"}]}`, `languages[0]: program: "-c" is no program`},
		{"dot", `{"languages": [{"extension": ".js"}]}`, `languages[0]: extension: write up to 16 lowercase letters and digits without a dot`},
		{"way out", `{"languages": [{"extension": "a/../b"}]}`, `languages[0]: extension: write up to 16`},
		{"path", `{"languages": [{"paths": ["lib"]}]}`, `languages[0]: paths: "lib" is not an absolute path`},
		{"root", `{"languages": [{"paths": ["/"]}]}`, `languages[0]: paths: / is the whole file system`},
		{"ours", `{"languages": [{"name": "sql", "program": "a", "extension": "a"}]}`, `languages[0]: name: sql is a language of the service: choose another name`},
		{"twice", `{"languages": [{` + whole + `}, {` + whole + `}]}`, `languages[1]: name: "a" is used twice`},
		{"field", `{"languages": [{"programm": "x"}]}`, `languages has no programm; did you mean program?`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := settings.Resolve(settings.Layers{File: file(t, tt.doc)})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want one with %q", err, tt.want)
			}
		})
	}
}
