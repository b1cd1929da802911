package mergepatch_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents/mergepatch"
)

// The cases are those of RFC 7396, appendix A, as far as both sides are objects.
func TestApply(t *testing.T) {
	for _, tc := range []struct{ args, patch, want string }{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`{"e":null}`, `{"a":1}`, `{"a":1,"e":null}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
		{`{"a":"foo"}`, `{"a":{"b":"c"}}`, `{"a":{"b":"c"}}`},
		{``, `{"a":1}`, `{"a":1}`},
	} {
		got, err := mergepatch.Apply(tc.args, tc.patch)
		if err != nil || got != tc.want {
			t.Errorf("%s with %s: got %s, %v, want %s", tc.args, tc.patch, got, err, tc.want)
		}
	}
	for _, tc := range []struct {
		patch string
		want  error
	}{
		{`["c"]`, mergepatch.ErrForm},
		{`null`, mergepatch.ErrForm},
		{`"x"`, mergepatch.ErrForm},
		{``, mergepatch.ErrForm},
		{`{"a":1,"a":2}`, mergepatch.ErrForm},
		{`{"a":"REDACTED"}`, mergepatch.ErrRedacted},
		{`{"a":"\u0052EDACTED"}`, mergepatch.ErrRedacted},
		{`{"REDACTED":null}`, mergepatch.ErrRedacted},
		{`{"a":[{"b":"x REDACTED y"}]}`, mergepatch.ErrRedacted},
	} {
		if got, err := mergepatch.Apply(`{"a":"b"}`, tc.patch); !errors.Is(err, tc.want) {
			t.Errorf("%s: got %s, %v, want %v", tc.patch, got, err, tc.want)
		}
	}
}

// FuzzApply holds that a patch does what it says: applied twice it changes nothing more, a name that
// it removes is gone, and no marker of a redacted value gets in.
func FuzzApply(f *testing.F) {
	f.Add(`{"a":{"b":1}}`, `{"a":{"b":null,"c":[1]}}`)
	f.Add(`{"a":"REDACTED"}`, `{"b":"x"}`)
	f.Fuzz(func(t *testing.T, args, patch string) {
		once, err := mergepatch.Apply(args, patch)
		if err != nil {
			return
		}
		if strings.Contains(once, "REDACTED") && !strings.Contains(args, "REDACTED") && !strings.Contains(args, `\u`) {
			t.Errorf("%s with %s: got %s", args, patch, once)
		}
		twice, err := mergepatch.Apply(once, patch)
		if err != nil || twice != once {
			t.Errorf("%s with %s: got %s, then %s, %v", args, patch, once, twice, err)
		}
		var changes, got map[string]any
		if json.Unmarshal([]byte(patch), &changes) != nil || json.Unmarshal([]byte(once), &got) != nil {
			t.Fatalf("%s with %s: got %s", args, patch, once)
		}
		for name, v := range changes {
			if now, there := got[name]; v == nil && there {
				t.Errorf("%s with %s: %s is still there", args, patch, name)
			} else if _, object := v.(map[string]any); v != nil && !object && !cmp.Equal(now, v) {
				t.Errorf("%s with %s: %s is %v", args, patch, name, now)
			}
		}
	})
}
