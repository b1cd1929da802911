package identity

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/svc-gateway/svc/policy"
)

// User is somebody who may use the service.
type User struct {
	Name       string      `json:"name"` // see [AddUser.Name]
	Role       policy.Role `json:"role"` // of an external account: what the source said at the last login
	Created    time.Time   `json:"created"`
	Expires    time.Time   `json:"expires,omitzero"` // end of the account with all its tokens; zero is never
	Disabled   bool        `json:"disabled,omitempty"`
	Link                   // zero for an account of this service
	ValidAfter time.Time   `json:"valid_after,omitzero"` // sessions and external credentials made before are revoked
	LastLogin  time.Time   `json:"last_login,omitzero"`  // of an external account, to about a minute
	Removed    time.Time   `json:"removed,omitzero"`     // zero: not removed
}

// Link is who an external account belongs to; see [External].
type Link struct {
	Source  string `json:"source,omitempty"`
	Issuer  string `json:"issuer,omitempty"`
	Subject string `json:"subject,omitempty"`
}

// Token is what is known of a token: everything but the token itself.
type Token struct {
	ID       string      `json:"id"` // public; safe to show and to log
	User     string      `json:"user"`
	Name     string      `json:"name"`           // what it is for; the first token of a user is "default"
	Role     policy.Role `json:"role,omitempty"` // when weaker than the user's
	Created  time.Time   `json:"created"`
	Expires  time.Time   `json:"expires,omitzero"`   // zero: no end of its own
	Revoked  time.Time   `json:"revoked,omitzero"`   // zero: not revoked
	LastUsed time.Time   `json:"last_used,omitzero"` // to about a minute; zero: never
}

// Account is a user with all tokens, the newest last.
type Account struct {
	User
	Tokens []Token `json:"tokens"`
}

// DefaultToken is the name of the token that comes with a user and that rotation replaces.
const DefaultToken = "default"

var userName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$`)

// checkUserName refuses names that would need quoting in a path, a log line or a table.
func checkUserName(name string) error {
	if !userName.MatchString(name) {
		return fmt.Errorf("%w: name: %q is not a user name; want 1 to 64 letters, digits and . _ @ -, the first a letter or digit", ErrInvalid, name)
	}
	return nil
}

// live returns nil while the user may act.
func (u *User) live(now time.Time) error {
	switch {
	case !u.Removed.IsZero():
		return fmt.Errorf("user %s was removed: %w", u.Name, ErrRevoked)
	case u.Disabled:
		return fmt.Errorf("user %s is disabled: %w", u.Name, ErrRevoked)
	case !u.Expires.IsZero() && !now.Before(u.Expires):
		return fmt.Errorf("user %s: %w", u.Name, ErrExpired)
	}
	return nil
}

// live returns nil while the token works, its user aside.
func (t *Token) live(now time.Time) error {
	switch {
	case !t.Revoked.IsZero():
		return ErrRevoked
	case !t.Expires.IsZero() && !now.Before(t.Expires):
		return ErrExpired
	}
	return nil
}

// errCutOff means that a credential is good but from before everything was ended.
var errCutOff = fmt.Errorf("made before everything of the user was ended: %w", ErrRevoked)

// accepts returns nil when a session or external credential from then is not revoked.
func (u *User) accepts(issued time.Time) error {
	if issued.Before(u.ValidAfter) {
		return fmt.Errorf("user %s: %w", u.Name, errCutOff)
	}
	return nil
}

// role is what the token gives its user.
func (t *Token) role(u *User) policy.Role {
	if t.Role == "" {
		return u.Role
	}
	return policy.Weaker(t.Role, u.Role)
}

// administers reports whether somebody can act as an admin with a token of this account. What
// an external source will say of somebody is not known, so nobody else counts.
func (a *Account) administers(now time.Time) bool {
	if a.live(now) != nil {
		return false
	}
	return slices.ContainsFunc(a.Tokens, func(t Token) bool {
		return t.live(now) == nil && t.role(&a.User) == policy.Admin
	})
}

// earlier returns the earlier of two ends, where zero is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}
