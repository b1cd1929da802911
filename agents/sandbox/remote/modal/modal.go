// Package modal is the provider of sandboxes of that name, for package remote.
//
//	p, err := modal.New(modal.Config{URL: "https://api.modal.com:443", TokenID: id, TokenSecret: secret})
//
// It uses the provider's own SDK for Go, because the API is gRPC and is not documented apart from it.
// Files go and come over the input and the output of commands. The SDK repeats calls whose connection is
// lost by itself, within the time of their context.
//
// The SDK takes its address and what it was not given from the environment and from a file in the home
// folder. Here it gets the address of the Config, and no file.
//
// A Provider is safe for concurrent use.
package modal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/url"
	"os"
	"strconv"
	"sync"
	"time"

	sdk "github.com/modal-labs/modal-client/go"

	"github.com/svc-gateway/svc/agents/sandbox/remote"
	"github.com/svc-gateway/svc/internal/reach"
)

// Name is the provider's name in the settings.
const Name = "modal"

// Config says where the API is and what sandboxes are made of. URL, TokenID and TokenSecret are needed.
type Config struct {
	URL                  string // https, or http to this host
	TokenID, TokenSecret string
	Environment          string // default: that of the token
	App                  string // that the sandboxes belong to; it is made. Default: svc
	Image                string // of a registry. Default: python:3.13-slim-bookworm
}

// Provider lends sandboxes of Modal.
type Provider struct {
	config Config

	connecting lock // for client and app
	client     *sdk.Client
	app        *sdk.App

	building lock // for image
	image    *sdk.Image
}

// lock is a mutex that is waited for as long as a context lasts.
type lock chan struct{}

func (l lock) take(ctx context.Context) error {
	select {
	case l <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l lock) give() { <-l }

var _ remote.Provider = (*Provider)(nil)

// New returns the provider. It does not connect.
func New(c Config) (*Provider, error) {
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || u.Path != "" && u.Path != "/" || u.Scheme != "https" && (u.Scheme != "http" || !reach.Loopback(u.Hostname())) {
		return nil, errors.New("sandbox.modal_url: this is not an https address without a path; plain http is for servers on this host")
	}
	port := u.Port()
	if port == "" {
		port = "443"
	}
	c.URL = u.Scheme + "://" + u.Hostname() + ":" + port
	if c.App == "" {
		c.App = "svc"
	}
	if c.Image == "" {
		c.Image = "python:3.13-slim-bookworm"
	}
	return &Provider{config: c, connecting: make(lock, 1), building: make(lock, 1)}, nil
}

// Name implements [remote.Provider].
func (p *Provider) Name() string { return Name }

// Close implements [remote.Provider].
func (p *Provider) Close() {
	p.connecting <- struct{}{} // every call has ended, or will soon
	defer p.connecting.give()
	if p.client != nil {
		p.client.Close()
	}
}

// environment is what the SDK would take from the environment otherwise. It has one place only for the
// address, and a file that is not there is no file.
var environment sync.Mutex

// connect makes the SDK's client and looks for the app, once each.
func (p *Provider) connect(ctx context.Context) (*sdk.Client, *sdk.App, error) {
	if err := p.connecting.take(ctx); err != nil {
		return nil, nil, p.fail("connecting", err)
	}
	defer p.connecting.give()
	if p.client == nil {
		c, err := p.newClient()
		if err != nil {
			return nil, nil, p.fail("connecting", err)
		}
		p.client = c
	}
	if p.app == nil {
		app, err := p.client.Apps.FromName(ctx, p.config.App, &sdk.AppFromNameParams{Environment: p.config.Environment, CreateIfMissing: true})
		if err != nil {
			return nil, nil, p.fail("looking for the app", err)
		}
		p.app = app
	}
	return p.client, p.app, nil
}

// build has the image built, once.
func (p *Provider) build(ctx context.Context, client *sdk.Client, app *sdk.App) (*sdk.Image, error) {
	if err := p.building.take(ctx); err != nil {
		return nil, p.fail("building the image", err)
	}
	defer p.building.give()
	if p.image == nil {
		image, err := client.Images.FromRegistry(p.config.Image, nil).Build(ctx, app, nil)
		if err != nil {
			return nil, p.fail("building the image", err)
		}
		p.image = image
	}
	return p.image, nil
}

func (p *Provider) newClient() (*sdk.Client, error) {
	environment.Lock()
	defer environment.Unlock()
	for name, value := range map[string]string{"MODAL_SERVER_URL": p.config.URL, "MODAL_CONFIG_PATH": os.DevNull, "MODAL_PROFILE": ""} {
		before, was := os.LookupEnv(name)
		if err := os.Setenv(name, value); err != nil {
			return nil, fmt.Errorf("setting %s: %w", name, err)
		}
		defer func() {
			if was {
				_ = os.Setenv(name, before)
			} else {
				_ = os.Unsetenv(name)
			}
		}()
	}
	patience := 30 * time.Second
	return sdk.NewClientWithOptions(&sdk.ClientParams{
		TokenID: p.config.TokenID, TokenSecret: p.config.TokenSecret, Environment: p.config.Environment,
		Logger: slog.New(slog.DiscardHandler), MaxThrottleWait: &patience,
	})
}

// Create implements [remote.Provider].
func (p *Provider) Create(ctx context.Context, o remote.Order) (remote.Sandbox, error) {
	client, app, err := p.connect(ctx)
	if err != nil {
		return nil, err
	}
	image, err := p.build(ctx, client, app)
	if err != nil {
		return nil, err
	}
	life := time.Duration(math.Ceil(o.Life.Seconds())) * time.Second
	s, err := client.Sandboxes.Create(ctx, app, image, &sdk.SandboxCreateParams{
		Timeout: life, BlockNetwork: o.Offline, Command: []string{"sleep", strconv.Itoa(int(life.Seconds()))},
		Tags: map[string]string{remote.LabelInstallation: o.Installation, remote.LabelRun: o.Run},
	})
	if err != nil {
		return nil, p.fail("creating a sandbox", err)
	}
	return &box{p, s}, nil
}

// List implements [remote.Provider]. What the SDK lists are ids; the labels are asked for one by one.
func (p *Provider) List(ctx context.Context, installation string) ([]remote.Found, error) {
	client, app, err := p.connect(ctx)
	if err != nil {
		return nil, err
	}
	const what = "listing sandboxes"
	list, err := client.Sandboxes.List(ctx, &sdk.SandboxListParams{AppID: app.AppID, Tags: map[string]string{remote.LabelInstallation: installation}})
	if err != nil {
		return nil, p.fail(what, err)
	}
	var all []remote.Found
	for s, err := range list {
		if err != nil {
			return nil, p.fail(what, err)
		}
		tags, err := s.GetTags(ctx, nil)
		switch {
		case gone(err):
			continue
		case err != nil:
			return nil, p.fail(what, err)
		case tags[remote.LabelInstallation] == installation:
			all = append(all, remote.Found{ID: s.SandboxID, Run: tags[remote.LabelRun]})
		}
	}
	return all, nil
}

// Delete implements [remote.Provider].
func (p *Provider) Delete(ctx context.Context, id string) error {
	client, _, err := p.connect(ctx)
	if err != nil {
		return err
	}
	s, err := client.Sandboxes.FromID(ctx, id, nil)
	if err == nil {
		defer func() { _ = s.Detach() }()
		_, err = s.Terminate(ctx, nil)
	}
	if err == nil || gone(err) {
		return nil
	}
	return p.fail("deleting a sandbox", err)
}
