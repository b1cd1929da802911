package frontmatter_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/internal/frontmatter"
)

func TestValue(t *testing.T) {
	for _, tc := range []struct {
		yaml, want, err string
	}{
		{`{a: [1, -2.5, true, null, x, "1", 2026-01-31], b: {c: ''}}`, `{"a":[1,-2.5,true,null,"x","1","2026-01-31"],"b":{"c":""}}`, ""},
		{`{a: 1, a: 2}`, "", `f:2: v: "a" is there twice`},
		{`{a: &x 1}`, "", "f:2: v: write the value itself, without an anchor or alias"},
		{`{? [a] : 1}`, "", "is no key"},
		{`{a: !!binary aGk=}`, "", "it has the tag !!binary: write the value alone"},
		{`{a: !mine x}`, "", "it has the tag !mine"},
		{`{a: .inf}`, "", ".inf is no number of JSON"},
		{`{a: .NaN}`, "", ".NaN is no number of JSON"},
		{`{<<: {a: 1}}`, `{"\u003c\u003c":{"a":1}}`, ""},
		{strings.Repeat("[", 30) + strings.Repeat("]", 30), "", "it is nested more than 20 deep"},
	} {
		r := frontmatter.Reader{File: "f"}
		fields := r.Fields("\nv: "+tc.yaml+"\n", "v")
		if fields == nil {
			t.Fatal(r.Err())
		}
		v := r.Value(fields["v"], "v")
		if tc.err != "" {
			if err := r.Err(); err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s: got %v, want %q", tc.yaml, err, tc.err)
			}
			continue
		}
		got, err := json.Marshal(v)
		if err != nil || r.Err() != nil {
			t.Errorf("%s: %v, %v", tc.yaml, err, r.Err())
		}
		if diff := cmp.Diff(tc.want, string(got)); diff != "" {
			t.Error(diff)
		}
	}
}

// Whatever front matter holds, a value that is read without a mistake is JSON.
func FuzzValue(f *testing.F) {
	for _, s := range []string{"{a: 1}", "[.inf, 0x1F, 1e400, ~]", "&a [*a]", "{1: 2, <<: {}}", "!!int x", "0o17", "1_000", "'\\xff'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := frontmatter.Reader{File: "f"}
		fields := r.Fields("v: "+text, "v")
		if fields["v"] == nil {
			return
		}
		v := r.Value(fields["v"], "v")
		if _, err := json.Marshal(v); err != nil && r.Err() == nil {
			t.Errorf("%q: %v", text, err)
		}
	})
}
