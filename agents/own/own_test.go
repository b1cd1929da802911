package own_test

import (
	"testing"

	"github.com/svc-gateway/svc/agents/own"
	"github.com/svc-gateway/svc/policy"
)

func TestListed(t *testing.T) {
	ada := policy.Principal{User: "ada", Role: policy.User}
	root := policy.Principal{User: "root", Role: policy.Admin}
	forAda := policy.Principal{User: "root", Role: policy.User, OnBehalfOf: "ada"}
	for _, tc := range []struct {
		name  string
		p     policy.Principal
		asked string
		owner string
		ok    bool
	}{
		{"one's own", ada, "", "ada", true},
		{"one's own by name", ada, "ada", "ada", true},
		{"another's", ada, "bob", "bob", false},
		{"an admin's of everybody", root, "", "", true},
		{"an admin's of one", root, "bob", "bob", true},
		{"on behalf of somebody", forAda, "", "ada", true},
		{"on behalf of somebody, one's own", forAda, "root", "root", false},
	} {
		if owner, ok := own.Listed(tc.p, tc.asked); owner != tc.owner || ok != tc.ok {
			t.Errorf("%s: got %q, %v, want %q, %v", tc.name, owner, ok, tc.owner, tc.ok)
		}
	}
}
