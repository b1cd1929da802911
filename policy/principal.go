package policy

import (
	"context"
	"time"
)

// Principal is who acts, as authentication found it. It is plain data and part of what a run
// stores, therefore it holds no credential.
type Principal struct {
	User       string    `json:"user"`                   // name; "os:<name>" for users of the operating system
	Role       Role      `json:"role"`                   // the weaker of the two when acting on behalf of somebody
	Groups     []string  `json:"groups,omitempty"`       // of the directory or identity provider
	Source     string    `json:"source"`                 // one of the Source constants
	TokenID    string    `json:"token_id,omitempty"`     // public id of the token, for source token
	SessionID  string    `json:"session_id,omitempty"`   // public id of the session that the credential belongs to
	Issued     time.Time `json:"issued,omitzero"`        // when the credential was made or checked, for other sources
	Expires    time.Time `json:"expires,omitzero"`       // end of the credential; zero is never
	OnBehalfOf string    `json:"on_behalf_of,omitempty"` // the user whom an admin acts for
	Address    string    `json:"address,omitempty"`      // where the request came from
	RequestID  string    `json:"request_id,omitempty"`   // the request itself, as X-Request-Id names it
}

// Where a principal comes from.
const (
	SourceToken = "token" // a token of this service
	SourceNone  = "none"  // auth.mode none: the operating system's user
	SourceOS    = "os"    // a local command, known by its socket credentials
	SourceLDAP  = "ldap"  // a directory
	SourceOIDC  = "oidc"  // an identity provider

	SourceCertificate = "certificate" // a TLS client certificate
)

type principalKey struct{}

// WithPrincipal returns a context that carries p.
func WithPrincipal(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// PrincipalFrom returns the principal that ctx carries. Without one it returns false, which
// callers treat as "nobody": refuse.
func PrincipalFrom(ctx context.Context) (Principal, bool) {
	p, ok := ctx.Value(principalKey{}).(Principal)
	return p, ok
}
