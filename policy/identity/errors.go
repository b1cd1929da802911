package identity

import (
	"errors"

	"github.com/svc-gateway/svc/policy"
)

// Why a token does not authenticate.
var (
	// ErrMalformed means that the text is no complete token of ours: cut off or mistyped.
	ErrMalformed = errors.New("malformed token")
	// ErrUnknown means that the token is well-formed and nobody's.
	ErrUnknown = errors.New("unknown token")
	// ErrExpired means that the token or its user's account reached its end. It is the same
	// value as in package policy.
	ErrExpired = policy.ErrExpired
	// ErrRevoked means that the token was revoked, or its user disabled or removed. It is the
	// same value as in package policy.
	ErrRevoked = policy.ErrRevoked
)

// Why a change was not made.
var (
	// ErrInvalid is wrapped by errors that name a field and what it accepts.
	ErrInvalid = errors.New("invalid request")
	// ErrForbidden means that the actor's role does not permit the change.
	ErrForbidden = errors.New("not permitted")
	// ErrUserExists means that the name is taken.
	ErrUserExists = errors.New("user exists")
	// ErrUserNotFound means that there is no such user.
	ErrUserNotFound = errors.New("no such user")
	// ErrTokenNotFound means that the user has no such token.
	ErrTokenNotFound = errors.New("no such token")
	// ErrTokenExists means that a token of that name works.
	ErrTokenExists = errors.New("token exists")
	// ErrSessionNotFound means that there is no such session, or not any more.
	ErrSessionNotFound = errors.New("no such session")
	// ErrLastAdmin means that nobody with role admin could log in any more.
	ErrLastAdmin = errors.New("the last admin with a working token")
	// ErrConflict means that somebody else changed users or tokens at the same time; the
	// change was not made and may be tried again.
	ErrConflict = errors.New("users were changed at the same time")
)
