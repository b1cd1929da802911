package identity

import (
	"fmt"
	"net/http"

	"github.com/svc-gateway/svc/internal/credentials"
	"github.com/svc-gateway/svc/policy"
)

// NewBasicProvider returns the provider of auth.mode ldap for programs: they send the user name
// and the password as "Authorization: Basic" (RFC 7617). Because browsers send what was typed
// once by themselves, a request that a page of another origin caused is refused unless that
// origin is trusted; origins look like "https://example.com".
func NewBasicProvider(p Passwords, trustedOrigins ...string) (Provider, error) {
	b := &basicProvider{passwords: p}
	for _, o := range trustedOrigins {
		if err := b.origins.AddTrustedOrigin(o); err != nil {
			return nil, fmt.Errorf("trusting origin %q: %w", o, err)
		}
	}
	return b, nil
}

type basicProvider struct {
	passwords Passwords
	origins   http.CrossOriginProtection
}

func (*basicProvider) Name() string { return "ldap" }

// Challenge asks for a user name and a password (RFC 7617).
func (*basicProvider) Challenge() string { return `Basic realm="svc", charset="UTF-8"` }

func (b *basicProvider) Authenticate(r *http.Request) (policy.Principal, Outcome, error) {
	user, password, outcome, err := findBasic(r.Header)
	if outcome != Yes {
		return policy.Principal{}, outcome, err
	}
	if err := b.origins.Check(acting(r)); err != nil {
		return policy.Principal{}, No, errBasicOrigin
	}
	p, err := b.passwords.Check(r.Context(), user, password, Address(r))
	if err != nil {
		return policy.Principal{}, No, err
	}
	return p, Yes, nil
}

// findBasic returns the user name and the password that the headers hold, with the outcome Yes.
func findBasic(h http.Header) (user, password string, outcome Outcome, err error) {
	values := h.Values("Authorization")
	if len(values) > 1 {
		return "", "", No, errConflict
	}
	if len(values) == 0 || !credentials.IsBasic(values[0]) {
		return "", "", NotMine, nil
	}
	user, password, ok := credentials.Basic(values[0])
	if !ok || user == "" || password == "" {
		return "", "", No, errBasicMalformed
	}
	return user, password, Yes, nil
}

var (
	errBasicMalformed = &Refused{
		Status: http.StatusUnauthorized, Code: "credentials_malformed", Reason: "malformed",
		Detail: "The Authorization header holds no user name with a password: want Basic and the base64 form of name:password.",
	}
	errBasicOrigin = &Refused{
		Status: http.StatusForbidden, Code: "cross_origin", Reason: "cross_origin",
		Detail: "A web page of another origin sent this with a password that the browser had kept. Add the origin to cors.origins to trust it.",
	}
)
