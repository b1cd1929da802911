package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-gateway/svc/internal/health"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy"
)

// DefaultURL is where the service is when nobody says otherwise.
const DefaultURL = "http://127.0.0.1:2280"

// DefaultPrefix is where svc_auth answers itself when nobody says otherwise.
const DefaultPrefix = "/auth"

// Target is an API to ask, and as whom.
type Target struct {
	Base   string // its URL
	Named  bool   // somebody named the URL
	Prefix string // of svc_auth
	Token  string // empty on the control socket
	HTTP   *http.Client
}

// FindTarget chooses the API: the one at address if that is not empty, else the one where login was, else
// the service of the data folder; with the stored token or, where there is none, over the control socket.
func FindTarget(ctx context.Context, home settings.Home, address string) (Target, error) {
	token, err := StoredToken(home)
	if err != nil {
		return Target{}, err
	}
	if token != "" {
		return ForToken(ctx, home, address, token)
	}
	if address == "" {
		control := NewClient(home)
		_, err := control.Status(ctx)
		if err == nil {
			return Target{Base: "http://localhost", Prefix: DefaultPrefix, HTTP: control.HTTP()}, nil
		}
		if !errors.Is(err, ErrNotRunning) {
			return Target{}, err
		}
	}
	return OverNetwork(ctx, home, address)
}

// OverNetwork is the API at address, or at the service of the data folder, without a token.
func OverNetwork(ctx context.Context, home settings.Home, address string) (Target, error) {
	t := Target{Base: DefaultURL, Prefix: DefaultPrefix, HTTP: &http.Client{CheckRedirect: refuseRedirect}}
	if address != "" {
		var err error
		t.Base, err = checkAddress(address)
		t.Named = true
		return t, err
	}
	if own := running(ctx, home); len(own) > 0 {
		t.Base = own[0]
	}
	return t, nil
}

// URLFlag adds the flag that names an API, for [FindTarget].
func URLFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("url", "", "address of the service (by default the one of the login, else that of the running one, else "+DefaultURL+")")
}

// refuseRedirect keeps the token with the server it was meant for.
func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func checkAddress(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil {
		return "", Usagef("--url: this is not an address such as %s", DefaultURL)
	}
	return strings.TrimSuffix(address, "/"), nil
}

// Send sends a request, with in as its JSON body unless that is nil and with the headers, name and value
// in turn, and returns the response of a success; the caller closes its body.
func (t Target) Send(ctx context.Context, method, path string, in any, headers ...string) (*http.Response, error) {
	if !strings.HasPrefix(path, "/") { // it would go on with the name of the server: @eve.example
		return nil, Usagef("--prefix: %q does not begin with a slash: write it as in %s", t.Prefix, DefaultPrefix)
	}
	var body io.Reader
	if in != nil {
		doc, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("encoding the request: %w", err)
		}
		body = bytes.NewReader(doc)
	}
	req, err := http.NewRequestWithContext(ctx, method, t.Base+path, body)
	if err != nil {
		return nil, fmt.Errorf("making the request: %w", err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if t.Token != "" {
		req.Header.Set("Authorization", "Bearer "+t.Token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := t.HTTP.Do(req)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, syscall.ECONNREFUSED):
		return nil, fmt.Errorf("no service answers at %s: %s, or name another with --url", t.Base, toStart())
	case err != nil && health.Severed(err):
		return nil, fmt.Errorf("asking the service: %w: is it TLS that is spoken there, and https in --url, or neither?", err)
	case err != nil:
		return nil, fmt.Errorf("asking the service: %w", err)
	case resp.StatusCode/100 == 2:
		return resp, nil
	}
	defer resp.Body.Close()
	p := problem.Parse(resp)
	if resp.StatusCode == http.StatusUnauthorized && p.Code != "credentials_wrong" {
		login := Command("login")
		if t.Named {
			login += " --url " + t.Base
		}
		return nil, fmt.Errorf("%w: log in with %s", p, login)
	}
	if resp.StatusCode == http.StatusBadRequest && p.Code == "unexpected_answer" && strings.HasPrefix(t.Base, "http:") {
		return nil, fmt.Errorf("%w: so servers answer that speak TLS: try https in --url", p)
	}
	return nil, p
}

// toStart says how to start the service.
func toStart() string {
	if Has("web") {
		return "start it with " + Command("web start")
	}
	return "start it"
}

// Join reads a stream from after an event on, the stream's id of it.
func (t Target) Join(ctx context.Context, path, last string) (*http.Response, error) {
	if last == "" {
		last = "-1"
	}
	return t.Send(ctx, http.MethodGet, path, nil, "Last-Event-ID", last)
}

// Whoami asks the service as whom we act.
func (t Target) Whoami(ctx context.Context) (policy.Principal, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	var p policy.Principal
	resp, err := t.Send(ctx, http.MethodGet, t.Prefix+"/whoami", nil)
	if err != nil {
		return p, err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&p); err != nil || p.User == "" {
		return p, fmt.Errorf("%s does not answer as a service of this kind", t.Base)
	}
	return p, nil
}

// Login opens a session and returns its token.
func (t Target) Login(ctx context.Context, user, password string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	resp, err := t.Send(ctx, http.MethodPost, t.Prefix+"/login", map[string]string{"user": user, "password": password, "kind": "api"})
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var out struct{ Token string }
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&out); err != nil || out.Token == "" {
		return "", fmt.Errorf("%s does not answer as a service of this kind", t.Base)
	}
	return out.Token, nil
}

// Logout ends the session that the token belongs to.
func (t Target) Logout(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	resp, err := t.Send(ctx, http.MethodPost, t.Prefix+"/logout", nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
