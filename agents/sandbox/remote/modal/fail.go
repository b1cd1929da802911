package modal

import (
	"context"
	"errors"
	"strings"

	sdk "github.com/modal-labs/modal-client/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/svc-gateway/svc/internal/plaintext"
)

// gone reports whether err says that there is no such sandbox, or that it has ended.
func gone(err error) bool {
	if _, ok := errors.AsType[sdk.NotFoundError](err); ok {
		return true
	}
	return status.Code(err) == codes.NotFound
}

// callError is an error of the API, without what the server wrote.
type callError struct {
	what string
	err  error
	says string
}

// fail makes an error that may be shown: what was being done and the kind of trouble.
func (p *Provider) fail(what string, err error) error {
	says := strings.ReplaceAll(err.Error(), p.config.TokenSecret, "REDACTED") // before it is cut
	return &callError{what, err, plaintext.Clean(plaintext.Whole([]byte(says[:min(len(says), 1024)])))}
}

func (e *callError) Error() string {
	why := "the SDK reports an error"
	if s, ok := status.FromError(e.err); ok {
		why = "the server answered " + s.Code().String()
	}
	switch {
	case errors.Is(e.err, context.DeadlineExceeded), errors.Is(e.err, context.Canceled):
		why = "its time was over"
	case status.Code(e.err) == codes.Unauthenticated, status.Code(e.err) == codes.PermissionDenied:
		why += ": do sandbox.modal_token_id and sandbox.modal_token_secret allow this?"
	}
	return Name + ": " + e.what + ": " + why
}

func (e *callError) Unwrap() error { return e.err }

// Says is what the server wrote, for the log.
func (e *callError) Says() string { return e.says }

// Lost reports whether the call may have had an effect.
func (e *callError) Lost() bool {
	switch status.Code(e.err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled, codes.Internal, codes.Unknown:
		return true
	}
	return false
}
