package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/health"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy"
)

// defaultURL is where the service is when nobody says otherwise.
const defaultURL = "http://127.0.0.1:2280"

// defaultPrefix is where svc_auth answers itself when nobody says otherwise.
const defaultPrefix = "/auth"

// target is an API to ask, and as whom.
type target struct {
	base   string
	prefix string // of svc_auth
	token  string // empty on the control socket
	http   *http.Client
}

// findTarget chooses the API: the one at address if that is not empty, else the service of this
// data folder; with the stored token or, where there is none, over the control socket.
func findTarget(ctx context.Context, address string) (target, error) {
	home, err := app.LocateHome()
	if err != nil {
		return target{}, err
	}
	token, err := readToken(home)
	if err != nil {
		return target{}, err
	}
	if address == "" && token == "" {
		control := cli.NewClient(home)
		_, err := control.Status(ctx)
		if err == nil {
			return target{base: "http://localhost", prefix: defaultPrefix, http: control.HTTP()}, nil
		}
		if !errors.Is(err, cli.ErrNotRunning) {
			return target{}, err
		}
	}
	t, err := overNetwork(ctx, home, address)
	t.token = token
	return t, err
}

// overNetwork is the API at address, or at the service of the data folder, without a token.
func overNetwork(ctx context.Context, home settings.Home, address string) (target, error) {
	t := target{base: defaultURL, prefix: defaultPrefix, http: &http.Client{CheckRedirect: refuseRedirect}}
	if address != "" {
		var err error
		t.base, err = checkAddress(address)
		return t, err
	}
	if s, err := cli.NewClient(home).Status(ctx); err == nil && s.URL() != "" {
		t.base = s.URL()
	}
	return t, nil
}

// refuseRedirect keeps the token with the server it was meant for.
func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func checkAddress(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil {
		return "", cli.Usagef("--url: this is not an address such as %s", defaultURL)
	}
	return strings.TrimSuffix(address, "/"), nil
}

func readToken(home settings.Home) (string, error) {
	text, err := os.ReadFile(home.Token())
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading the token: %w", err)
	}
	if info, err := os.Stat(home.Token()); err == nil && settings.Exposed(info) {
		fmt.Fprintf(os.Stderr, "Warning: others have rights to %s: chmod 600 it, and replace the token with service admin rotate-token if they may have read it\n", home.Token())
	}
	return strings.TrimSpace(string(text)), nil
}

// send sends a request, with in as its JSON body unless that is nil and with the headers, name and value
// in turn, and returns the response of a success; the caller closes its body.
func (t target) send(ctx context.Context, method, path string, in any, headers ...string) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		doc, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("encoding the request: %w", err)
		}
		body = bytes.NewReader(doc)
	}
	req, err := http.NewRequestWithContext(ctx, method, t.base+path, body)
	if err != nil {
		return nil, fmt.Errorf("making the request: %w", err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if t.token != "" {
		req.Header.Set("Authorization", "Bearer "+t.token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := t.http.Do(req)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, syscall.ECONNREFUSED):
		return nil, fmt.Errorf("no service answers at %s: start it with service web start, or name another with --url", t.base)
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
		return nil, fmt.Errorf("%w: log in with service login", p)
	}
	if resp.StatusCode == http.StatusBadRequest && p.Code == "unexpected_answer" && strings.HasPrefix(t.base, "http:") {
		return nil, fmt.Errorf("%w: so servers answer that speak TLS: try https in --url", p)
	}
	return nil, p
}

// join reads a stream from after an event on, the stream's id of it.
func (t target) join(ctx context.Context, path, last string) (*http.Response, error) {
	if last == "" {
		last = "-1"
	}
	return t.send(ctx, http.MethodGet, path, nil, "Last-Event-ID", last)
}

// whoami asks the service as whom we act.
func (t target) whoami(ctx context.Context) (policy.Principal, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	var p policy.Principal
	resp, err := t.send(ctx, http.MethodGet, t.prefix+"/whoami", nil)
	if err != nil {
		return p, err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&p); err != nil || p.User == "" {
		return p, fmt.Errorf("%s does not answer as a service of this kind", t.base)
	}
	return p, nil
}

// login opens a session and returns its token.
func (t target) login(ctx context.Context, user, password string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	resp, err := t.send(ctx, http.MethodPost, t.prefix+"/login", map[string]string{"user": user, "password": password, "kind": "api"})
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var out struct{ Token string }
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&out); err != nil || out.Token == "" {
		return "", fmt.Errorf("%s does not answer as a service of this kind", t.base)
	}
	return out.Token, nil
}

// logout ends the session that the token belongs to.
func (t target) logout(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	resp, err := t.send(ctx, http.MethodPost, t.prefix+"/logout", nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
