package auth

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/caddymodule/refusal"
	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy"
)

// rateLimited is the code of requests refused because their sender makes too many.
const rateLimited = audit.RateLimited

// taker is what the handler needs of the live bus.
type taker interface {
	Take(ctx context.Context, key string, burst int64, every time.Duration) (bus.Grant, error)
}

// rateLimit gives every user a bucket of requests, whichever credentials they use. A nil one
// limits nothing.
type rateLimit struct {
	bus   taker
	burst int64
	every time.Duration // that brings one request back
}

func newRateLimit(b taker, l settings.Limits) *rateLimit {
	if l.RequestsPerMinute == 0 {
		return nil
	}
	return &rateLimit{b, int64(l.RequestsBurst), time.Minute / time.Duration(l.RequestsPerMinute)}
}

// take takes a request out of the user's bucket.
func (l *rateLimit) take(ctx context.Context, p policy.Principal) (bus.Grant, error) {
	g, err := l.bus.Take(ctx, "requests."+p.User, l.burst, l.every)
	if err != nil {
		return g, fmt.Errorf("limiting requests: %w", err)
	}
	return g, nil
}

// The fields that tell a client where it stands, in canonical form; names as in
// draft-ietf-httpapi-ratelimit-headers-06.
const (
	limitField     = "Ratelimit-Limit"     // the burst
	remainingField = "Ratelimit-Remaining" // requests that are left now
	resetField     = "Ratelimit-Reset"     // seconds until the whole burst is there again
)

// tell puts the fields in place of those that the next handler may have set.
func (l *rateLimit) tell(h http.Header, g bus.Grant) {
	values := []string{
		strconv.FormatInt(l.burst, 10),
		strconv.FormatInt(g.Left, 10),
		strconv.FormatInt(int64((g.Full+time.Second-1)/time.Second), 10),
	}
	h[limitField], h[remainingField], h[resetField] = values[0:1:1], values[1:2:2], values[2:3:3]
}

// limit takes a request out of the user's bucket, or answers that it is empty.
func (h *Handler) limit(rec *recorder, r *http.Request, p policy.Principal) (outcome string) {
	if h.rate == nil {
		return succeeded
	}
	g, err := h.rate.take(r.Context(), p)
	if err != nil {
		return h.refuse(rec, r, err)
	}
	rec.grant, rec.granted = g, true
	if g.OK {
		return succeeded
	}
	rec.reason = rateLimited
	problem.RetryAfter(rec.Header(), g.Wait)
	refusal.Write(rec, r, problem.Problem{
		Status: http.StatusTooManyRequests, Code: rateLimited,
		Detail: fmt.Sprintf("You may send %d requests at once, and then one every %s: wait for the time in Retry-After.", h.rate.burst, h.rate.every),
	})
	return rateLimited
}
