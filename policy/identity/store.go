package identity

import (
	"context"
	"errors"
	"time"

	"github.com/svc-gateway/svc/policy"
)

// Errors of a [Store].
var (
	// ErrNotFound is what a [Store] answers for a token or session that it does not hold.
	ErrNotFound = errors.New("not found")
	// ErrUnavailable is wrapped by every error that says that the storage cannot be read or written
	// now: disk full, an I/O error, no connection, closed. It says nothing about a credential, and
	// who gets it lets nobody in. What was to be written was not.
	ErrUnavailable = errors.New("users cannot be read or written now")
)

// Store keeps users, tokens and sessions. It is the seam between one machine and a fleet: every
// implementation passes the conformance suite of package identitytest. All methods are safe
// for concurrent use; reads see every change that was applied before they began. An error is one of
// those that the method names, that of the context, or wraps [ErrUnavailable] when the storage is
// to blame.
type Store interface {
	// Revision is the number of changes applied so far, of those that make something untrue which
	// was known before.
	Revision(ctx context.Context) (int64, error)
	// ByHash and ByID find a token, revoked and expired ones included, with its user, all as
	// of one revision. Without one they return [ErrNotFound].
	ByHash(ctx context.Context, h Hash) (Credential, error)
	ByID(ctx context.Context, id string) (Credential, error)
	// ByName and ByLink find a user, a removed one included, without tokens and sessions. Without
	// one they return [ErrNotFound].
	ByName(ctx context.Context, name string) (Credential, error)
	ByLink(ctx context.Context, l Link) (Credential, error)
	// Accounts returns the users that the filter selects, removed ones included, ordered by
	// name, each with all tokens in the order of their creation, and the revision that this is
	// the state of.
	Accounts(ctx context.Context, f Filter) ([]Account, int64, error)
	// OldTokens returns the oldest tokens, at most limit, that were made until a time and worked
	// then, which needs their user to do so too.
	OldTokens(ctx context.Context, until, then time.Time, limit int) ([]Token, error)
	// Apply makes all of the change durable or nothing of it, and returns the new revision.
	// It returns [ErrConflict] when the store is not at Change.Revision any more, and
	// [ErrUserExists] when a user's name is another's but for capitals, or that of an account with
	// another link that is not removed.
	Apply(ctx context.Context, c Change) (int64, error)
	// AddAccount creates an external account, which is no change of what was known, or takes back
	// the removal of the one with the same name and link, which is one, whatever the revision is.
	// It returns the revision, or [ErrConflict] when the link has another account, or the name, in
	// capitals or not.
	AddAccount(ctx context.Context, u User) (int64, error)
	// Touch notes what was used last. That may be lost in a crash, does not count as a change,
	// and never moves a time back; it can be read after the next Apply at the latest. Who and
	// what is not known is ignored.
	Touch(ctx context.Context, u Used) error

	SessionStore
	LockoutStore

	// Close writes what is pending and closes the store. A second Close does nothing.
	Close() error
}

// SessionStore keeps sessions.
type SessionStore interface {
	// SessionByHash and SessionByID find a session, ended and expired ones included, with its
	// user and the token that it was opened with, all as of one revision. Without one they
	// return [ErrNotFound].
	SessionByHash(ctx context.Context, h Hash) (Credential, error)
	SessionByID(ctx context.Context, id string) (Credential, error)
	// Sessions returns the sessions that the filter selects and that worked then, which needs
	// their user and token to do so too, ordered by user and creation.
	Sessions(ctx context.Context, f SessionFilter, then time.Time) ([]StoredSession, error)
	// OpenSession adds a session; an id or hash that exists is an error. The oldest ones of
	// the user beyond limit end, which is a change; else the revision stays as it is. It
	// returns the revision.
	OpenSession(ctx context.Context, s StoredSession, limit int) (int64, error)
	// RenewSession replaces role, groups and upstream of a session that has not ended; else it
	// returns [ErrNotFound]. Another role or other groups are a change. It returns the revision.
	RenewSession(ctx context.Context, s StoredSession) (int64, error)
	// PruneSessions forgets the sessions that ended or expired before then. That is no change,
	// and is done after the next Apply at the latest.
	PruneSessions(ctx context.Context, then time.Time) error
}

// Credential is a token or a session with its user, or a user alone.
type Credential struct {
	Token    Token         // zero for a session that was opened without one, and for a user
	Session  StoredSession // zero for a token, and for a user
	User     User
	Revision int64 // of the store when it was read
}

// Filter selects accounts. An empty field selects all.
type Filter struct {
	Name string
	Role policy.Role
}

// SessionFilter selects sessions. An empty field selects all.
type SessionFilter struct {
	User    string
	Issuer  string // of the identity provider; SID and Subject need it
	Subject string
	SID     string
}

// Change is what happens in one step. Its rows are complete: they replace what was there.
type Change struct {
	Revision  int64          // the revision that the change was decided on
	Users     []User         // inserted, or updated where the name exists
	NewTokens []NewToken     // inserted; an id or hash that exists is an error
	Tokens    []Token        // Expires and Revoked of existing tokens, by ID
	Sessions  []EndedSession // unknown ones and those that have ended are ignored
}

// NewToken is a token with what it is looked up by.
type NewToken struct {
	Token
	Hash Hash
}

// StoredSession is a session with what is only for the service to see.
type StoredSession struct {
	Session
	Hash     Hash
	Role     policy.Role // what the source said; of a session with a token: the token's then
	Groups   []string
	Issued   time.Time // when the credential that it was opened with was made
	Ended    time.Time // zero: not ended
	Upstream SealedUpstream
}

// SealedUpstream is an [Upstream] whose secrets are encrypted.
type SealedUpstream struct {
	Issuer, Subject, SID string
	Due                  time.Time
	Secrets              []byte
}

// EndedSession says when a session ended.
type EndedSession struct {
	ID    string
	Ended time.Time
}

// Used says when tokens and sessions (by id) were used last, and when users of external
// accounts (by name) logged in.
type Used struct {
	Tokens   map[string]time.Time
	Sessions map[string]time.Time
	Logins   map[string]LoginSeen
}

// LoginSeen is a login with the role that the source said.
type LoginSeen struct {
	At   time.Time
	Role policy.Role
}
