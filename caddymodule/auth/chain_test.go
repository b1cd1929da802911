package auth

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

type namedProvider string

func (p namedProvider) Name() string { return string(p) }

func (namedProvider) Authenticate(*http.Request) (policy.Principal, identity.Outcome, error) {
	return policy.Principal{}, identity.NotMine, nil
}

// The mode none takes every local request: what comes behind it would never be asked.
func TestNoneComesLast(t *testing.T) {
	for _, tt := range []struct{ before, want []string }{
		{nil, []string{"x"}},
		{[]string{"ldap"}, []string{"ldap", "x"}},
		{[]string{"ldap", "none"}, []string{"ldap", "x", "none"}},
		{[]string{"none", "ldap"}, []string{"x", "none", "ldap"}},
	} {
		var chain identity.Chain
		for _, name := range tt.before {
			chain = append(chain, namedProvider(name))
		}
		var got []string
		for _, p := range beforeNone(chain, namedProvider("x")) {
			got = append(got, p.Name())
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%v (-want +got):\n%s", tt.before, d)
		}
	}
}
