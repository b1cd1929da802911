// Package daytona is the provider of sandboxes of that name, for package remote.
//
//	p, err := daytona.New(daytona.Config{URL: "https://app.daytona.io/api", Key: key})
//
// It speaks the provider's HTTP API: sandboxes below /sandbox, and, at the address that a sandbox names
// as its toolboxProxyUrl, files and processes. A command runs as long as its request. When the
// connection is lost meanwhile, nobody knows how it went, and the run is an error.
//
// A Provider is safe for concurrent use. The facts are from the public clients and the daemon of
// github.com/daytonaio/daytona.
package daytona

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"path"
	"time"

	"github.com/svc-gateway/svc/agents/sandbox/remote"
	"github.com/svc-gateway/svc/agents/sandbox/remote/rest"
)

// Name is the provider's name in the settings.
const Name = "daytona"

// Config says where the API is and what sandboxes are made of. Only URL and Key are needed.
type Config struct {
	URL, Key string
	Snapshot string // what a sandbox is made from. Default: the provider's
	Target   string // the region. Default: the organization's
	Pause    time.Duration
}

// Provider lends sandboxes of Daytona.
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
	return &Provider{c, api}, nil
}

// Name implements [remote.Provider].
func (p *Provider) Name() string { return Name }

// Close implements [remote.Provider].
func (p *Provider) Close() { p.api.Close() }

// creation is the body of POST /sandbox.
type creation struct {
	Snapshot   string            `json:"snapshot,omitempty"`
	Target     string            `json:"target,omitempty"`
	Labels     map[string]string `json:"labels"`
	Public     bool              `json:"public"`
	BlockAll   bool              `json:"networkBlockAll"`
	AutoStop   int               `json:"autoStopInterval"`   // minutes without activity
	AutoDelete int               `json:"autoDeleteInterval"` // 0: as soon as it has stopped
}

// view is a sandbox in answers.
type view struct {
	ID      string            `json:"id"`
	State   string            `json:"state"`
	Labels  map[string]string `json:"labels"`
	Toolbox string            `json:"toolboxProxyUrl"`
}

// Create implements [remote.Provider].
func (p *Provider) Create(ctx context.Context, o remote.Order) (remote.Sandbox, error) {
	in := creation{
		Snapshot: p.config.Snapshot, Target: p.config.Target, BlockAll: o.Offline,
		Labels:   map[string]string{remote.LabelInstallation: o.Installation, remote.LabelRun: o.Run},
		AutoStop: int(math.Ceil(o.Life.Minutes())),
	}
	var out view
	if err := p.api.JSON(ctx, rest.Call{What: "creating a sandbox", Method: http.MethodPost, Path: "/sandbox"}, in, &out); err != nil {
		return nil, err
	}
	if out.ID == "" {
		return nil, fmt.Errorf("%s: creating a sandbox: the answer names none", Name)
	}
	return &box{p: p, id: out.ID}, nil
}

// List implements [remote.Provider]. Older servers answer with all sandboxes, newer ones with pages.
func (p *Provider) List(ctx context.Context, installation string) ([]remote.Found, error) {
	labels, err := json.Marshal(map[string]string{remote.LabelInstallation: installation})
	if err != nil {
		return nil, fmt.Errorf("%s: listing sandboxes: %w", Name, err)
	}
	query := url.Values{"labels": {string(labels)}}
	var all []remote.Found
	for range maxPages {
		var raw json.RawMessage
		if err := p.api.JSON(ctx, rest.Call{What: "listing sandboxes", Method: http.MethodGet, Path: "/sandbox", Query: query, Again: true}, nil, &raw); err != nil {
			return nil, err
		}
		var page struct {
			Items []view `json:"items"`
			Next  string `json:"nextCursor"`
		}
		if json.Unmarshal(raw, &page.Items) != nil {
			if err := json.Unmarshal(raw, &page); err != nil {
				return nil, fmt.Errorf("%s: listing sandboxes: the answer is not the JSON that this version of the service knows", Name)
			}
		}
		for _, v := range page.Items {
			// The label is looked at again: a server that does not know the filter lists everybody's.
			if v.ID != "" && v.Labels[remote.LabelInstallation] == installation && v.State != "destroyed" && v.State != "destroying" {
				all = append(all, remote.Found{ID: v.ID, Run: v.Labels[remote.LabelRun]})
			}
		}
		if page.Next == "" {
			return all, nil
		}
		query.Set("cursor", page.Next)
	}
	return all, nil
}

// maxPages bounds a list that does not end.
const maxPages = 100

// Delete implements [remote.Provider].
func (p *Provider) Delete(ctx context.Context, id string) error {
	err := p.api.JSON(ctx, rest.Call{What: "deleting a sandbox", Method: http.MethodDelete, Path: "/sandbox/" + url.PathEscape(id)}, nil, nil)
	if rest.Gone(err) {
		return nil
	}
	return err
}

// box is one sandbox.
type box struct {
	p       *Provider
	id      string
	toolbox *url.URL // known when it is ready
}

func (b *box) ID() string { return b.id }

// Ready implements [remote.Sandbox].
func (b *box) Ready(ctx context.Context) (bool, error) {
	at := "/sandbox/" + url.PathEscape(b.id)
	var v view
	if err := b.p.api.JSON(ctx, rest.Call{What: "waiting for a sandbox", Method: http.MethodGet, Path: at, Again: true}, nil, &v); err != nil {
		return false, err
	}
	switch v.State {
	case "started":
	case "error", "build_failed", "destroyed", "destroying", "stopped", "stopping", "archived", "archiving":
		return false, fmt.Errorf("%s: the sandbox did not start: its state is %s", Name, v.State)
	default: // creating, starting, pulling_snapshot, and what there may be more
		return false, nil
	}
	if v.Toolbox == "" { // not every server writes it there
		var u struct {
			URL string `json:"url"`
		}
		if err := b.p.api.JSON(ctx, rest.Call{What: "asking for the toolbox", Method: http.MethodGet, Path: at + "/toolbox-proxy-url", Again: true}, nil, &u); err != nil {
			return false, err
		}
		v.Toolbox = u.URL
	}
	u, err := b.p.api.Trusts(v.Toolbox)
	if err != nil {
		return false, err
	}
	b.toolbox = u.JoinPath(url.PathEscape(b.id))
	return true, nil
}

// Put implements [remote.Sandbox].
func (b *box) Put(ctx context.Context, name string, content func(io.Writer) error) error {
	body, contentType := rest.Upload(path.Base(name), content, nil)
	_, err := b.p.api.Do(ctx, rest.Call{
		What: "sending files", Method: http.MethodPost, Base: b.toolbox, Path: "/files/upload", Query: url.Values{"path": {name}},
		Body: body, Type: contentType, Again: true,
	})
	return err
}

// execution is what process/execute takes and gives.
type execution struct {
	Command string `json:"command"`
	Timeout int    `json:"timeout"` // seconds
}

// Exec implements [remote.Sandbox].
func (b *box) Exec(ctx context.Context, line string) (int, error) {
	in := execution{Command: "sh -c '" + line + "'", Timeout: 3600}
	if until, ok := ctx.Deadline(); ok {
		in.Timeout = max(1, int(math.Ceil(time.Until(until).Seconds()))) // should the request be lost
	}
	var out struct {
		Exit *int `json:"exitCode"`
		Code *int `json:"code"` // of older daemons
	}
	if err := b.p.api.JSON(ctx, rest.Call{What: "running a program", Method: http.MethodPost, Base: b.toolbox, Path: "/process/execute"}, in, &out); err != nil {
		return 0, err
	}
	switch {
	case out.Exit != nil:
		return *out.Exit, nil
	case out.Code != nil:
		return *out.Code, nil
	}
	return 0, errors.New(Name + ": running a program: the answer has no exit code")
}

// Get implements [remote.Sandbox].
func (b *box) Get(ctx context.Context, name string, limit int64) ([]byte, error) {
	return b.p.api.Do(ctx, rest.Call{
		What: "fetching files", Method: http.MethodGet, Base: b.toolbox, Path: "/files/download", Query: url.Values{"path": {name}}, Limit: limit, Again: true,
	})
}
