package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/policy"
)

// StreamHead sets the header of a stream of events.
func StreamHead(header http.Header) {
	header.Set("Content-Type", MediaSSE)
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no")
	header.Set("X-Content-Type-Options", "nosniff")
}

// RunPath is where a run is found.
func RunPath(run agents.RunInfo) string {
	return fmt.Sprintf("/threads/%s/runs/%s", run.Thread, run.ID)
}

// UntilGone is a context that outlives the announcement that the service is stopping: until
// the runtime has closed its runs, their readers may see how they end.
func UntilGone(ctx context.Context) (context.Context, func()) {
	still, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if cause := context.Cause(ctx); !errors.Is(cause, policy.ErrStopping) {
			cancel(cause)
		}
	})
	return still, func() { stop(); cancel(nil) }
}

// StreamEnd is why a stream ends before its run does, as its client is told. It reports false for one
// that has gone.
func StreamEnd(err error) (code, message string, ok bool) {
	switch {
	case errors.Is(err, policy.ErrRevoked):
		return "token_revoked", "the credential of this stream was revoked", true
	case errors.Is(err, policy.ErrExpired):
		return "token_expired", "the credential of this stream has expired", true
	case errors.Is(err, agents.ErrThreadNotFound):
		return "thread_not_found", "the thread was removed", true
	case errors.Is(err, context.Canceled):
		return "", "", false
	}
	return "stream_failed", "the run's events cannot be read", true
}
