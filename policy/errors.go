package policy

import "errors"

// Why what a principal started ends early. Streams cancel their request's context with one of
// these as its cause; a run that was refused further calls fails with one.
var (
	// ErrRevoked means that the credential was taken back or its user disabled or removed.
	ErrRevoked = errors.New("credential revoked")
	// ErrExpired means that the credential or its user's account reached its end.
	ErrExpired = errors.New("credential expired")
	// ErrStopping means that the process is going down.
	ErrStopping = errors.New("service is stopping")
)
