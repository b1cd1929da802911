package identity

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy"
)

// Outcome is what a provider says about a request. The zero value is NotMine.
type Outcome int

// The outcomes.
const (
	// NotMine means that the request holds nothing for this provider: ask the next. An error
	// that is a [*Refused] is kept as the answer in case nobody else has one.
	NotMine Outcome = iota
	// Yes means that the principal is who sends the request.
	Yes
	// No means that the request must not pass, whatever others say. The error is the reason,
	// a [*Refused].
	No
)

// Provider is one way to find out who sends a request. An error that is not a [*Refused] is
// technical, whatever the outcome: the question could not be answered.
type Provider interface {
	// Name is the auth.mode that the provider stands for.
	Name() string
	Authenticate(r *http.Request) (policy.Principal, Outcome, error)
}

// Challenger is a provider that takes credentials and says how to send them.
type Challenger interface {
	// Challenge returns an authentication scheme with its parameters (RFC 9110, 11.6.1).
	Challenge() string
}

// ErrNoCredentials means that the request holds no credentials that a provider takes: 401.
var ErrNoCredentials = errors.New("no credentials")

// Refused is a request that must not pass. Detail is for the client, Reason a stable word for
// records and metrics.
type Refused struct {
	Status     int // 401, 403 or 429
	Code       string
	Detail     string
	Reason     string
	RetryAfter time.Duration // when it may be tried again; 0: nothing is known of that
}

// Error returns the detail.
func (r *Refused) Error() string { return r.Detail }

// refusals say as what errors are told.
type refusals []struct {
	err     error
	refused *Refused
}

// of turns an error into a refusal; one that is not in the list stays as it is.
func (l refusals) of(err error) error {
	for _, x := range l {
		if errors.Is(err, x.err) {
			return x.refused
		}
	}
	return err
}

// Chain asks its providers in order. A chain without providers authenticates nobody.
type Chain []Provider

// Authenticate returns who sends the request. The principal's Address is that of [Address],
// unless the provider knows better. The error is [ErrNoCredentials], a [*Refused], or technical;
// [Chain.Problem] turns each into an answer.
func (c Chain) Authenticate(r *http.Request) (policy.Principal, error) {
	p, _, err := c.Decide(r)
	return p, err
}

// Decide is Authenticate for those who account for it: by is the name of the provider that
// decided, empty when all left it to the others.
func (c Chain) Decide(r *http.Request) (p policy.Principal, by string, err error) {
	var kept *Refused
	for _, provider := range c {
		p, outcome, err := provider.Authenticate(r)
		refused, isRefused := errors.AsType[*Refused](err)
		if err != nil && !isRefused {
			return policy.Principal{}, provider.Name(), err
		}
		switch outcome {
		case Yes:
			if err != nil {
				return policy.Principal{}, provider.Name(), err
			}
			p.Address = cmp.Or(p.Address, Address(r))
			return p, provider.Name(), nil
		case No:
			return policy.Principal{}, provider.Name(), cmp.Or(err, ErrNoCredentials)
		case NotMine:
			if kept == nil || kept.Status == http.StatusForbidden || kept == errUnrecognised {
				kept = cmp.Or(refused, kept)
			}
		}
	}
	// Where credentials could be sent, asking for them says more than "forbidden".
	if kept == nil || kept.Status == http.StatusForbidden && len(c.schemes()) > 0 {
		return policy.Principal{}, "", ErrNoCredentials
	}
	return policy.Principal{}, "", kept
}

func (c Chain) schemes() []string {
	var list []string
	for _, provider := range c {
		if ch, ok := provider.(Challenger); ok && !slices.Contains(list, ch.Challenge()) {
			list = append(list, ch.Challenge())
		}
	}
	return list
}

// Challenges returns the values of WWW-Authenticate for an error of [Chain.Authenticate]: one
// for each scheme that is taken, none when the answer is not 401 (RFC 9110, 11.6.1). Where a
// credential was refused the Bearer challenge says what is wrong with it (RFC 6750, 3).
func (c Chain) Challenges(err error) []string {
	refused, ok := errors.AsType[*Refused](err)
	if !ok && !errors.Is(err, ErrNoCredentials) || ok && refused.Status != http.StatusUnauthorized {
		return nil
	}
	list := c.schemes()
	for i := range list {
		if ok && strings.HasPrefix(list[i], "Bearer") {
			list[i] += `, error="invalid_token", error_description="` + quotable(refused.Detail) + `"`
		}
	}
	return list
}

// Problem returns the answer to an error of [Chain.Authenticate]: 401, 403, 429, or 503 for a
// technical one, whose text stays inside.
func (c Chain) Problem(err error) problem.Problem {
	if refused, ok := errors.AsType[*Refused](err); ok {
		return problem.Problem{Status: refused.Status, Code: refused.Code, Detail: refused.Detail}
	}
	if errors.Is(err, ErrNoCredentials) {
		return problem.Problem{
			Status: http.StatusUnauthorized, Code: "credentials_missing",
			Detail: "This needs a token: send the header Authorization: Bearer <token>.",
		}
	}
	return problem.Problem{
		Status: http.StatusServiceUnavailable, Code: "auth_unavailable",
		Detail: "The service cannot find out who sends this at the moment; try again later.",
	}
}

// quotable makes a text fit for a quoted-string of a header.
func quotable(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			b[i] = '\''
		}
	}
	return string(b)
}

type addressKey struct{}

// WithAddress returns a context for a request that came from the address. A server that trusts
// a proxy says so what the proxy told it; nobody else may, because failed logins are counted by
// address.
func WithAddress(ctx context.Context, address string) context.Context {
	return context.WithValue(ctx, addressKey{}, address)
}

// Address returns where the request came from: what [WithAddress] said, or else who is at the
// other end of the connection.
func Address(r *http.Request) string {
	if address, _ := r.Context().Value(addressKey{}).(string); address != "" {
		return address
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
