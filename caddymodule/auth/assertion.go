package auth

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"strings"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/headername"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity/assertion"
)

const (
	defaultAssertion = "X-Svc-Assertion"
	defaultIssuer    = "svc"
)

// Assertion has each request carry a signed JSON Web Token that says who sends it, for 60
// seconds. It is verified with the keys at <prefix>/jwks.
type Assertion struct {
	// The header. Default: "X-Svc-Assertion".
	Header string `json:"header,omitempty"`

	// Who the token is for (aud). Default: the host that the request names, without its port.
	Audience string `json:"audience,omitempty"`

	// Who says so (iss). Default: the setting auth.public_url, or "svc".
	Issuer string `json:"issuer,omitempty"`
}

func (a *Assertion) check(taken *IdentityHeaders) error {
	if err := checkHeaderName(a.header()); err != nil {
		return fmt.Errorf("assertion: %w", err)
	}
	for name, text := range map[string]string{"audience": a.Audience, "issuer": a.Issuer} {
		if err := checkLiteral(text); err != nil {
			return fmt.Errorf("assertion: %s: %w", name, err)
		}
	}
	if taken == nil {
		return nil
	}
	for _, name := range taken.names() {
		if headername.Fold(name) == headername.Fold(a.header()) {
			return fmt.Errorf("assertion: %s is one of identity_headers already", a.header())
		}
	}
	return nil
}

// checkLiteral refuses a text with placeholders.
func checkLiteral(text string) error {
	if strings.ContainsAny(text, "{}") {
		return fmt.Errorf("%q: placeholders are not replaced here: write the text itself, or {$NAME} in a Caddyfile", text)
	}
	return nil
}

func (a *Assertion) header() string {
	return http.CanonicalHeaderKey(cmp.Or(a.Header, defaultAssertion))
}

// assert signs who sends the request. One that cannot be signed goes on without: whoever wants
// a proof refuses it.
func (h *Handler) assert(r *http.Request, p policy.Principal) {
	token, err := h.signer.Sign(p, assertion.Claims{
		Issuer: h.issuer, Audience: cmp.Or(h.Assertion.Audience, hostname(r.Host)),
	})
	delete(r.Header, h.Assertion.header())
	if err != nil {
		h.logger.Error("telling the next handler who sends a request", zap.Error(err))
		return
	}
	r.Header[h.Assertion.header()] = []string{token}
}

// hostname is a Host header without its port, in lower case.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(host)
}

// publicKeys are those that this or another svc_auth signs with.
func (h *Handler) publicKeys() ([]byte, error) {
	if h.signer != nil {
		return h.signer.JWKS(), nil
	}
	return assertion.PublicKeys(h.keyFile)
}
