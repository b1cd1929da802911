package oidc

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/svc-gateway/svc/policy/identity"
)

// trial is a login of nobody: it goes as far as it can without a person.
type trial struct {
	issuer   *issuer
	state    *state
	redirect string
	verifier string
	report   *identity.Report
}

// ExplainLogin tries the way of a login at the provider of that name, or at the only one where the
// name is empty, and reports each step: what the provider says of itself, whether it takes a request
// with this redirect URI (…/oidc/ and the name is added to root), and whether it takes the client's
// secret, which it is asked with a code that it never gave.
func (s *Set) ExplainLogin(ctx context.Context, name, root string) identity.Report {
	r := identity.Report{Steps: []identity.Step{}}
	t := trial{report: &r, verifier: oauth2.GenerateVerifier()}
	err := t.step("provider", func() (string, error) {
		if t.issuer = s.byName(name); name == "" && len(s.issuers) == 1 {
			t.issuer = s.issuers[0]
		}
		switch {
		case t.issuer == nil:
			return "", fmt.Errorf("there is no provider %q; there are %s", name, s.names())
		case t.issuer.ClientID == "":
			return "", errors.New("it has no client_id, so nobody can log in there with a browser")
		}
		t.redirect = root + "/oidc/" + t.issuer.Name + "/callback"
		return t.issuer.Name + " (" + t.issuer.URL + ")", nil
	})
	for _, next := range []struct {
		name string
		do   func(context.Context) (string, error)
	}{{"discovery", t.discover}, {"authorization", t.authorize}, {"client", t.authenticate}} {
		if err == nil {
			err = t.step(next.name, func() (string, error) { return next.do(ctx) })
		}
	}
	if err != nil {
		r.Error = err.Error()
	}
	return r
}

func (s *Set) names() string {
	var all []string
	for _, i := range s.issuers {
		all = append(all, i.Name)
	}
	return strings.Join(all, ", ")
}

func (t *trial) step(name string, do func() (string, error)) error {
	began := time.Now()
	detail, err := do()
	t.report.Add(name, detail, err, time.Since(began))
	return err
}

func (t *trial) discover(ctx context.Context) (string, error) {
	var err error
	if t.state, err = t.issuer.current(ctx); err != nil {
		return "", err
	}
	if t.state.Authorization == "" || t.state.Token == "" {
		return "", errors.New("the provider has no authorization or token endpoint")
	}
	return fmt.Sprintf("%d keys, tokens at %s", len(t.state.keys), t.state.Token), nil
}

// authorize asks for the page that a person would see. One who is not logged in there is sent to a
// page of the provider, or back with an error that says so; another error is one of the request.
func (t *trial) authorize(ctx context.Context) (string, error) {
	address := t.issuer.oauth(t.state, t.redirect).AuthCodeURL(rand.Text(), gooidc.Nonce(rand.Text()), oauth2.S256ChallengeOption(t.verifier))
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	client := *t.issuer.client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusBadRequest {
		return "", fmt.Errorf("%s answers %s: does it know client_id %s and the redirect URI %s?", t.state.Authorization, resp.Status, t.issuer.ClientID, t.redirect)
	}
	to, err := resp.Location()
	if err != nil {
		return "a page, for the redirect URI " + t.redirect, nil
	}
	switch code := to.Query().Get("error"); code {
	case "", "login_required", "interaction_required", "consent_required", "account_selection_required":
		return "on to " + (&url.URL{Scheme: to.Scheme, Host: to.Host}).String() + ", for the redirect URI " + t.redirect, nil
	default:
		return "", fmt.Errorf("the provider refuses the request: %s", word(code))
	}
}

// authenticate shows the secret with a code that was made up: a provider looks at the client first.
func (t *trial) authenticate(ctx context.Context) (string, error) {
	ctx = gooidc.ClientContext(ctx, t.issuer.client)
	_, err := t.issuer.oauth(t.state, t.redirect).Exchange(ctx, rand.Text(), oauth2.VerifierOption(t.verifier))
	err = t.issuer.tokenError(cmp.Or(err, errMadeUp), nil)
	if err != nil {
		return "", err
	}
	if t.issuer.secret == "" {
		return "client_id " + t.issuer.ClientID + ", without a secret", nil
	}
	return "client_id " + t.issuer.ClientID + " and its secret are accepted", nil
}

var errMadeUp = errors.New("it took a code that was made up")
