package identity

import (
	"context"
	"errors"
	"time"

	"github.com/svc-gateway/svc/policy"
)

// External is what a source outside of this service (a directory, an identity provider, a
// certificate authority) says about somebody who proved to it who they are.
type External struct {
	Source  string      // policy.SourceLDAP, policy.SourceOIDC or policy.SourceCertificate
	Issuer  string      // which one of them: the issuer's URL or distinguished name; empty for the one directory
	Subject string      // who it is there, for ever: entryUUID, sub
	Name    string      // the user name that they would have here; see [AddUser.Name]
	Role    policy.Role // what their groups or claims map to
	Groups  []string
	Issued  time.Time // when the credential was made; zero: now
	Expires time.Time // its end; zero: it has none
}

// Directory checks passwords and knows groups. Package ldap has one.
type Directory interface {
	// Authenticate returns who the user is. A wrong password and an unknown user are
	// [ErrCredentials] and take the same time; a user whose groups map to no role is
	// [ErrNoRole]; every other error is technical.
	Authenticate(ctx context.Context, user, password string) (External, error)
	// Lookup returns what is known of a subject now, at most a short life of its cache old.
	// It returns [ErrRevoked] for one that is gone or has no role any more, and
	// [errors.ErrUnsupported] where a subject cannot be looked up without a password.
	Lookup(ctx context.Context, subject string) (External, error)
}

// Forgetter is a [Directory] that remembers for a while which passwords were right.
type Forgetter interface {
	// Forget has the next Authenticate of the user with this password ask anew.
	Forget(user, password string)
}

// Renewer asks an identity provider again about a session that it opened. Package oidc has one.
type Renewer interface {
	// Renew returns who it is now, and what to renew with the next time. It returns
	// [ErrRevoked] when the provider refuses; every other error is technical.
	Renew(ctx context.Context, u Upstream) (External, Upstream, error)
	// RoleOf returns the role that groups at the provider give now; empty when they give none, and
	// when it is not a provider any more.
	RoleOf(issuer string, groups []string) policy.Role
}

// Upstream is what a session that an identity provider opened is renewed and ended with. Its
// secrets are encrypted where they are stored.
type Upstream struct {
	Issuer  string
	Subject string
	SID     string    // the provider's name of its session (sid)
	Refresh Secret    // refresh token; empty: the session cannot be renewed
	IDToken Secret    // hint for the provider's logout
	Due     time.Time // when to renew; zero: never
}

// SessionKind says how a session's secret is sent.
type SessionKind string

// The kinds of sessions. The secret of one kind is not accepted as the other.
const (
	WebSession SessionKind = "web" // in the cookie svc_token
	APISession SessionKind = "api" // as Authorization: Bearer
)

// Session is a login that lasts: everything but its secret.
type Session struct {
	ID       string      `json:"id"` // public; safe to show and to log
	User     string      `json:"user"`
	Kind     SessionKind `json:"kind"`
	Source   string      `json:"source"`             // where the user comes from: one of policy's Source constants
	TokenID  string      `json:"token_id,omitempty"` // of the token it was opened with, which it never outlives
	Created  time.Time   `json:"created"`
	Expires  time.Time   `json:"expires"`
	LastUsed time.Time   `json:"last_used,omitzero"` // to about a minute
	Address  string      `json:"address,omitempty"`  // where it was opened from
	Agent    string      `json:"agent,omitempty"`    // the User-Agent then, cut to 200 bytes
}

// NewSession is a session to be opened.
type NewSession struct {
	Principal policy.Principal // who logged in
	Kind      SessionKind
	Lifetime  time.Duration // the session ends earlier when the principal does
	Agent     string
	Upstream  *Upstream // for source oidc
}

// Why somebody was not let in.
var (
	// ErrCredentials means that the user name and password do not fit, whichever is wrong.
	ErrCredentials = errors.New("wrong user name or password")
	// ErrNoRole means that a known user has no role here.
	ErrNoRole = errors.New("no group or claim gives a role")
	// ErrNameTaken means that the name belongs to an account of another source.
	ErrNameTaken = errors.New("the user name belongs to an account of another source")
)
