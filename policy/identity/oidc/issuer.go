package oidc

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"

	"github.com/svc-gateway/svc/internal/health"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy/identity"
)

// How old what is known of a provider may be.
const (
	freshFor = 15 * time.Minute // then it is fetched again, while the old goes on working
	keepFor  = 24 * time.Hour   // then it does not work any more
	// refreshEvery is how often an unknown key makes us ask again, whoever sends it.
	refreshEvery = 10 * time.Second
)

// After a failure the provider is left alone for a while, which doubles up to a limit.
const (
	minBackoff = time.Second
	maxBackoff = 30 * time.Second
)

// issuer is one provider and what is known of it.
type issuer struct {
	settings.Issuer
	secret  identity.Secret
	client  *http.Client
	set     *Set
	trouble func(error) // told when the provider cannot be reached, and nil when it can again

	mu       sync.Mutex
	state    *state        // nil: nothing is known yet
	known    time.Time     // when state was last found to be so
	fetching chan struct{} // closed at the end of the fetch that is under way; nil: none is
	last     time.Time     // when the last fetch ended
	err      error         // what it ended with
	backoff  time.Duration // how long not to ask after a failure
	refused  bool          // the token endpoint does not take our client
	changed  time.Time     // when trouble last began or ended
}

// state is what a provider says of itself. It does not change.
type state struct {
	metadata
	keys   []key
	digest [sha256.Size]byte // of the documents it was read from
}

// metadata are the parts of the discovery document that package oidc does not know.
type metadata struct {
	JWKS          string   `json:"jwks_uri"`
	Authorization string   `json:"authorization_endpoint"`
	Token         string   `json:"token_endpoint"`
	UserInfo      string   `json:"userinfo_endpoint"`
	EndSession    string   `json:"end_session_endpoint"`
	AuthMethods   []string `json:"token_endpoint_auth_methods_supported"`
	SendsIssuer   bool     `json:"authorization_response_iss_parameter_supported"` // RFC 9207
}

// current returns what is known of the provider, and waits for one fetch at most if that is
// nothing. While it is being refreshed the old goes on working.
func (i *issuer) current(ctx context.Context) (*state, error) {
	i.mu.Lock()
	s, age := i.state, time.Since(i.known)
	var wait chan struct{}
	if s == nil || age > freshFor {
		wait = i.fetch()
	}
	err := i.err
	i.mu.Unlock()
	if s != nil && age <= keepFor {
		return s, nil
	}
	if wait == nil {
		return nil, err
	}
	return i.await(ctx, wait)
}

// renewed returns what is known now to somebody for whom old was not enough. It asks the
// provider at most once in refreshEvery.
func (i *issuer) renewed(ctx context.Context, old *state) (*state, error) {
	i.mu.Lock()
	if i.state != old {
		defer i.mu.Unlock()
		return i.state, nil
	}
	if i.fetching == nil && time.Since(i.last) < refreshEvery {
		defer i.mu.Unlock()
		return old, i.err
	}
	wait := i.fetch()
	err := i.err
	i.mu.Unlock()
	if wait == nil {
		return nil, err
	}
	return i.await(ctx, wait)
}

func (i *issuer) await(ctx context.Context, fetched chan struct{}) (*state, error) {
	select {
	case <-fetched:
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for %s: %w", i.URL, context.Cause(ctx))
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.err != nil {
		return nil, i.err
	}
	return i.state, nil
}

// fetch begins a fetch unless one is under way, and returns what is closed at its end; nil
// while the provider is left alone. The caller holds mu.
func (i *issuer) fetch() chan struct{} {
	if i.fetching != nil {
		return i.fetching
	}
	if i.err != nil && time.Since(i.last) < i.backoff {
		return nil
	}
	done := make(chan struct{})
	started := i.set.run(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, requestTimeout) // for both documents together
		defer cancel()
		s, err := i.discover(ctx)
		if i.settle(s, err) {
			i.trouble(err)
		}
		close(done)
	})
	if !started {
		i.err = errClosed
		return nil
	}
	i.fetching = done
	return done
}

// settle takes over the result of a fetch. It reports whether the provider has begun or ceased to
// be in trouble.
func (i *issuer) settle(s *state, err error) (news bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	news = (i.err == nil) != (err == nil)
	i.fetching, i.last, i.err = nil, time.Now(), err
	if news || i.changed.IsZero() {
		i.changed = i.last
	}
	if err != nil {
		i.backoff = min(max(2*i.backoff, minBackoff), maxBackoff)
		return news
	}
	i.backoff, i.known = 0, i.last
	if i.state == nil || i.state.digest != s.digest {
		i.state = s // the same one is kept: tokens were verified with it
	}
	return news
}

// discover asks the provider for its discovery document and its keys.
func (i *issuer) discover(ctx context.Context) (*state, error) {
	provider, err := gooidc.NewProvider(gooidc.ClientContext(ctx, i.client), i.URL)
	if err != nil {
		if health.Reason(err) == health.Refused { // it answers, with something else
			err = fmt.Errorf("%w? %w", errNoIssuer, err)
		}
		return nil, fmt.Errorf("discovering %s: %w", i.URL, i.mixedUp(err))
	}
	s := new(state)
	var doc json.RawMessage
	if err := errors.Join(provider.Claims(&s.metadata), provider.Claims(&doc)); err != nil {
		return nil, fmt.Errorf("discovering %s: %w", i.URL, err)
	}
	if s.JWKS == "" {
		return nil, fmt.Errorf("discovering %s: there is no jwks_uri", i.URL)
	}
	for _, endpoint := range []string{s.JWKS, s.Authorization, s.Token, s.UserInfo, s.EndSession} {
		if err := i.checkEndpoint(endpoint); err != nil {
			return nil, fmt.Errorf("discovering %s: %w", i.URL, err)
		}
	}
	keys, err := i.get(ctx, s.JWKS, "")
	if err == nil {
		s.keys, err = parseKeys(keys)
	}
	if err != nil {
		return nil, fmt.Errorf("fetching the keys of %s: %w", i.URL, err)
	}
	s.digest = sha256.Sum256(slices.Concat(doc, keys))
	return s, nil
}

// checkEndpoint refuses an endpoint less safe than the issuer itself.
func (i *issuer) checkEndpoint(endpoint string) error {
	if endpoint == "" {
		return nil
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || strings.HasPrefix(i.URL, "https:")) {
		return fmt.Errorf("the endpoint %q is not an https address", endpoint)
	}
	return nil
}

// statusError is an answer of a provider that is no success.
type statusError struct {
	address string
	code    int
}

func (e statusError) Error() string {
	return fmt.Sprintf("%s answers %d %s", e.address, e.code, http.StatusText(e.code))
}

// get fetches a document, with an access token unless that is empty.
func (i *issuer) get(ctx context.Context, address, access string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	if access != "" {
		r.Header.Set("Authorization", "Bearer "+access)
	}
	resp, err := i.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, statusError{address, resp.StatusCode}
	}
	return io.ReadAll(resp.Body)
}
