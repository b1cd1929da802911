package policy_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/policy"
)

func TestPrincipalInContext(t *testing.T) {
	if p, ok := policy.PrincipalFrom(context.Background()); ok {
		t.Errorf("got %+v out of an empty context", p)
	}
	want := policy.Principal{User: "bob", Role: policy.User, Source: policy.SourceToken, TokenID: "t"}
	got, ok := policy.PrincipalFrom(policy.WithPrincipal(context.Background(), want))
	if d := cmp.Diff(want, got); !ok || d != "" {
		t.Errorf("got %t (-want +got):\n%s", ok, d)
	}
}

func TestPrincipalAsJSON(t *testing.T) {
	want := policy.Principal{
		User: "bob", Role: policy.User, Groups: []string{"ops"}, Source: policy.SourceToken, TokenID: "t",
		Expires: time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC), OnBehalfOf: "eve", Address: "192.0.2.1",
	}
	doc, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got policy.Principal
	if err := json.Unmarshal(doc, &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	doc, _ = json.Marshal(policy.Principal{User: "bob", Role: policy.User, Source: "none"})
	if got, want := string(doc), `{"user":"bob","role":"user","source":"none"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
