package adminapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy/identity"
)

// Client is [identity.Admin] on a running service, through its handler. Its errors carry the
// service's text and wrap the sentinels of package identity.
type Client struct {
	http *http.Client
	base string
}

// NewClient returns a client of the handler at the base address, such as
// "http://service/identity", whose requests hc sends.
func NewClient(hc *http.Client, base string) *Client {
	return &Client{hc, strings.TrimSuffix(base, "/")}
}

var _ identity.Admin = (*Client)(nil)

// AddUser implements [identity.Admin].
func (c *Client) AddUser(ctx context.Context, u identity.AddUser) (identity.User, identity.Secret, error) {
	var out addedBody
	err := c.do(ctx, http.MethodPost, "/users", addUserBody{u.Name, u.Role, wire(u.Expires)}, &out)
	return out.User, identity.Secret(out.Token), err
}

// Users implements [identity.Admin].
func (c *Client) Users(ctx context.Context) ([]identity.Account, error) {
	var out usersBody
	err := c.do(ctx, http.MethodGet, "/users", nil, &out)
	return out.Users, err
}

// UpdateUser implements [identity.Admin].
func (c *Client) UpdateUser(ctx context.Context, name string, u identity.UpdateUser) (identity.User, error) {
	in := updateUserBody{Role: u.Role, Disabled: u.Disabled}
	if u.Expires != nil {
		expires := wire(*u.Expires)
		in.Expires = &expires
	}
	var out userBody
	err := c.do(ctx, http.MethodPatch, "/users/"+url.PathEscape(name), in, &out)
	return out.User, err
}

// RemoveUser implements [identity.Admin].
func (c *Client) RemoveUser(ctx context.Context, name string) (identity.User, error) {
	var out userBody
	err := c.do(ctx, http.MethodDelete, "/users/"+url.PathEscape(name), nil, &out)
	return out.User, err
}

// AddToken implements [identity.Admin].
func (c *Client) AddToken(ctx context.Context, user string, t identity.AddToken) (identity.Token, identity.Secret, error) {
	var out newTokenBody
	err := c.do(ctx, http.MethodPost, "/users/"+url.PathEscape(user)+"/tokens", addTokenBody{t.Name, t.Role, wire(t.Expires)}, &out)
	return out.Info, identity.Secret(out.Token), err
}

// RevokeToken implements [identity.Admin].
func (c *Client) RevokeToken(ctx context.Context, user, token string) ([]identity.Token, error) {
	var out revokedBody
	err := c.do(ctx, http.MethodDelete, below("/users/"+url.PathEscape(user)+"/tokens", token), nil, &out)
	return out.Revoked, err
}

// RotateToken implements [identity.Admin].
func (c *Client) RotateToken(ctx context.Context, user, token string, grace time.Duration) (identity.Token, identity.Secret, error) {
	var out newTokenBody
	err := c.do(ctx, http.MethodPost, "/users/"+url.PathEscape(user)+"/rotate", rotateBody{token, grace.String()}, &out)
	return out.Info, identity.Secret(out.Token), err
}

// Sessions implements [identity.Admin].
func (c *Client) Sessions(ctx context.Context, user string) ([]identity.Session, error) {
	path := "/sessions"
	if user != "" {
		path += "?user=" + url.QueryEscape(user)
	}
	var out sessionsBody
	err := c.do(ctx, http.MethodGet, path, nil, &out)
	return out.Sessions, err
}

// EndSessions implements [identity.Admin].
func (c *Client) EndSessions(ctx context.Context, user, id string) ([]identity.Session, error) {
	var out endedBody
	err := c.do(ctx, http.MethodDelete, below("/users/"+url.PathEscape(user)+"/sessions", id), nil, &out)
	return out.Ended, err
}

// Lockouts implements [identity.Admin].
func (c *Client) Lockouts(ctx context.Context) ([]identity.Lockout, error) {
	var out lockoutsBody
	err := c.do(ctx, http.MethodGet, "/lockouts", nil, &out)
	return out.Lockouts, err
}

// Unlock implements [identity.Admin].
func (c *Client) Unlock(ctx context.Context, who string) ([]identity.Lockout, error) {
	var out unlockedBody
	err := c.do(ctx, http.MethodDelete, "/lockouts/"+url.PathEscape(who), nil, &out)
	return out.Unlocked, err
}

// below is the address of one thing in a collection, or, without a name, the collection's.
func below(collection, name string) string {
	if name == "" {
		return collection
	}
	return collection + "/" + url.PathEscape(name)
}

// wire is an end in the form that the handler reads.
func wire(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func (c *Client) do(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		doc, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("encoding the request: %w", err)
		}
		body = bytes.NewReader(doc)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return fmt.Errorf("asking the service: %w", err)
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("asking the service: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		return fromProblem(problem.Parse(resp))
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return fmt.Errorf("reading the service's answer: %w", err)
	}
	return nil
}
