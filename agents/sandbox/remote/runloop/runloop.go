// Package runloop is the provider of sandboxes of that name, for package remote.
//
//	p, err := runloop.New(runloop.Config{URL: "https://api.runloop.ai", Key: key})
//
// It speaks the provider's HTTP API: devboxes below /v1/devboxes, commands with execute_async. A command
// that is under way is asked for again until it has ended, also when a connection was lost meanwhile; one
// whose time is over is killed with its process group.
//
// A Provider is safe for concurrent use. The facts are from the public clients, such as
// github.com/runloopai/api-client-python.
package runloop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"time"

	"github.com/svc-gateway/svc/agents/sandbox/remote"
	"github.com/svc-gateway/svc/agents/sandbox/remote/rest"
)

// Name is the provider's name in the settings.
const Name = "runloop"

// Config says where the API is and what devboxes are made of. Only URL and Key are needed.
type Config struct {
	URL, Key  string
	Blueprint string // name of what a devbox is made from. Default: the provider's image
	// Policy is the id of a network policy that devboxes get. Default: none, and devboxes without a
	// network cannot be had.
	Policy string
	Pause  time.Duration
	Poll   time.Duration // between two looks at a command. Default: 500ms
}

// Provider lends devboxes of Runloop.
type Provider struct {
	config Config
	api    *rest.Client
}

var _ remote.Provider = (*Provider)(nil)

// New returns the provider. It does not connect.
func New(c Config) (*Provider, error) {
	api, err := rest.New(rest.Config{Provider: Name, URL: c.URL, Key: c.Key, Pause: c.Pause})
	if err != nil {
		return nil, err
	}
	if c.Poll == 0 {
		c.Poll = 500 * time.Millisecond
	}
	return &Provider{c, api}, nil
}

// Name implements [remote.Provider].
func (p *Provider) Name() string { return Name }

// Close implements [remote.Provider].
func (p *Provider) Close() { p.api.Close() }

// creation is the body of POST /v1/devboxes.
type creation struct {
	Name      string            `json:"name"`
	Blueprint string            `json:"blueprint_name,omitempty"`
	Metadata  map[string]string `json:"metadata"`
	Launch    launch            `json:"launch_parameters"`
}

type launch struct {
	KeepAlive int    `json:"keep_alive_time_seconds"`
	Policy    string `json:"network_policy_id,omitempty"`
}

// view is a devbox in answers.
type view struct {
	ID       string            `json:"id"`
	Status   string            `json:"status"`
	Failure  string            `json:"failure_reason"`
	Metadata map[string]string `json:"metadata"`
}

// ended reports whether nothing of a devbox in this status costs or runs any more.
func ended(status string) bool { return status == "shutdown" || status == "failure" }

// Create implements [remote.Provider].
func (p *Provider) Create(ctx context.Context, o remote.Order) (remote.Sandbox, error) {
	if o.Offline && p.config.Policy == "" {
		return nil, errors.New("runloop: programs are to have no network, and only a network policy of yours can see to that: set sandbox.runloop_network_policy to the id of one that allows nothing")
	}
	in := creation{
		Name: "svc-" + o.Run, Blueprint: p.config.Blueprint,
		Metadata: map[string]string{remote.LabelInstallation: o.Installation, remote.LabelRun: o.Run},
		Launch:   launch{KeepAlive: max(60, int(o.Life.Seconds())), Policy: p.config.Policy},
	}
	var out view
	if err := p.api.JSON(ctx, rest.Call{What: "creating a devbox", Method: http.MethodPost, Path: "/v1/devboxes"}, in, &out); err != nil {
		return nil, err
	}
	if out.ID == "" {
		return nil, errors.New("runloop: creating a devbox: the answer names none")
	}
	return &box{p: p, id: out.ID, at: devbox(out.ID)}, nil
}

func devbox(id string) string { return "/v1/devboxes/" + url.PathEscape(id) }

// The API lists what has ended too, unless it is asked for one status.
var alive = []string{"provisioning", "initializing", "running", "suspending", "suspended", "resuming"}

// maxPages and pageSize bound a list that does not end.
const (
	maxPages = 100
	pageSize = 500
)

// List implements [remote.Provider].
func (p *Provider) List(ctx context.Context, installation string) ([]remote.Found, error) {
	var all []remote.Found
	for _, status := range alive {
		query := url.Values{"status": {status}, "limit": {strconv.Itoa(pageSize)}}
		for range maxPages {
			var page struct {
				Devboxes []view `json:"devboxes"`
				More     bool   `json:"has_more"`
			}
			if err := p.api.JSON(ctx, rest.Call{What: "listing devboxes", Method: http.MethodGet, Path: "/v1/devboxes", Query: query, Again: true}, nil, &page); err != nil {
				return nil, err
			}
			for _, v := range page.Devboxes {
				if v.ID != "" && v.Metadata[remote.LabelInstallation] == installation && !ended(v.Status) {
					all = append(all, remote.Found{ID: v.ID, Run: v.Metadata[remote.LabelRun]})
				}
				query.Set("starting_after", v.ID)
			}
			if !page.More || len(page.Devboxes) == 0 {
				break
			}
		}
	}
	return all, nil
}

// Delete implements [remote.Provider].
func (p *Provider) Delete(ctx context.Context, id string) error {
	err := p.api.JSON(ctx, rest.Call{What: "shutting a devbox down", Method: http.MethodPost, Path: devbox(id) + "/shutdown"}, struct{}{}, nil)
	if err == nil || rest.Gone(err) {
		return nil
	}
	// One that is down already may be refused.
	var v view
	if look := p.api.JSON(ctx, rest.Call{What: "looking at a devbox", Method: http.MethodGet, Path: devbox(id)}, nil, &v); rest.Gone(look) || look == nil && ended(v.Status) {
		return nil
	}
	return err
}

// box is one devbox.
type box struct {
	p      *Provider
	id, at string
}

func (b *box) ID() string { return b.id }

// Ready implements [remote.Sandbox].
func (b *box) Ready(ctx context.Context) (bool, error) {
	var v view
	if err := b.p.api.JSON(ctx, rest.Call{What: "waiting for a devbox", Method: http.MethodGet, Path: b.at, Again: true}, nil, &v); err != nil {
		return false, err
	}
	switch v.Status {
	case "running":
		return true, nil
	case "failure", "shutdown", "suspending", "suspended":
		return false, fmt.Errorf("runloop: the devbox did not start: its status is %s", v.Status)
	}
	return false, nil
}

// Put implements [remote.Sandbox].
func (b *box) Put(ctx context.Context, name string, content func(io.Writer) error) error {
	body, contentType := rest.Upload(path.Base(name), content, map[string]string{"path": name})
	_, err := b.p.api.Do(ctx, rest.Call{What: "sending files", Method: http.MethodPost, Path: b.at + "/upload_file", Body: body, Type: contentType, Again: true})
	return err
}

// execution is a command in answers.
type execution struct {
	ID     string `json:"execution_id"`
	Status string `json:"status"` // queued, running, completed
	Exit   *int   `json:"exit_status"`
}

// Exec implements [remote.Sandbox].
func (b *box) Exec(ctx context.Context, line string) (int, error) {
	var e execution
	if err := b.p.api.JSON(ctx, rest.Call{What: "running a program", Method: http.MethodPost, Path: b.at + "/execute_async"}, map[string]string{"command": line}, &e); err != nil {
		return 0, err
	}
	if e.ID == "" {
		return 0, errors.New("runloop: running a program: the answer names no execution")
	}
	at := b.at + "/executions/" + url.PathEscape(e.ID)
	for e.Status != "completed" {
		timer := time.NewTimer(b.p.config.Poll)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
		err := ctx.Err()
		if err == nil {
			err = b.p.api.JSON(ctx, rest.Call{What: "waiting for a program", Method: http.MethodGet, Path: at, Query: url.Values{"last_n": {"1"}}, Again: true}, nil, &e)
		}
		if ctx.Err() != nil || err != nil {
			b.kill(ctx, at)
			return 0, err
		}
	}
	if e.Exit == nil {
		return 0, errors.New("runloop: running a program: the answer has no exit status")
	}
	return *e.Exit, nil
}

// killTime is how long the request to kill a command may take. The devbox is shut down soon anyway.
const killTime = 2 * time.Second

// kill stops a command that is not waited for any more.
func (b *box) kill(ctx context.Context, at string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), killTime)
	defer cancel()
	_ = b.p.api.JSON(ctx, rest.Call{What: "killing a program", Method: http.MethodPost, Path: at + "/kill", Again: true}, map[string]bool{"kill_process_group": true}, nil)
}

// Get implements [remote.Sandbox].
func (b *box) Get(ctx context.Context, name string, limit int64) ([]byte, error) {
	in := rest.Call{What: "fetching files", Method: http.MethodPost, Path: b.at + "/download_file", Limit: limit, Again: true}
	return b.p.api.Fetch(ctx, in, map[string]string{"path": name})
}
