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
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	sdk "github.com/modal-labs/modal-client/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/svc-gateway/svc/agents/sandbox/remote"
	"github.com/svc-gateway/svc/internal/plaintext"
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
	if err != nil || u.Host == "" || u.Path != "" && u.Path != "/" || u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())) {
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

func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
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

// box is one sandbox.
type box struct {
	p *Provider
	s *sdk.Sandbox
}

func (b *box) ID() string { return b.s.SandboxID }

// Ready implements [remote.Sandbox]. The first command waits until the sandbox runs.
func (b *box) Ready(context.Context) (bool, error) { return true, nil }

// Put implements [remote.Sandbox].
func (b *box) Put(ctx context.Context, name string, content func(io.Writer) error) error {
	const what = "sending files"
	cp, err := b.s.Exec(ctx, []string{"sh", "-c", "exec cat >" + name}, params(ctx, sdk.Ignore))
	if err != nil {
		return b.p.fail(what, err)
	}
	// The SDK's writer knows no context. A write that hangs ends with the sandbox, which is deleted then.
	sent := make(chan error, 1)
	go func() { sent <- send(ctx, cp.Stdin, content) }()
	select {
	case err = <-sent:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return b.p.fail(what, err)
	}
	exit, err := cp.Wait(ctx, nil)
	if err == nil && exit != 0 {
		err = fmt.Errorf("writing them ended with %d", exit)
	}
	if err != nil {
		return b.p.fail(what, err)
	}
	return nil
}

// chunk is how much is sent in one call of the API.
const chunk = 256 << 10

// send writes content to the input of a command, in large pieces, until the context ends.
func send(ctx context.Context, w io.WriteCloser, content func(io.Writer) error) error {
	buffered := bufio.NewWriterSize(writerFunc(func(b []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return w.Write(b)
	}), chunk)
	return errors.Join(content(buffered), buffered.Flush(), w.Close())
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// Exec implements [remote.Sandbox].
func (b *box) Exec(ctx context.Context, line string) (int, error) {
	cp, err := b.s.Exec(ctx, []string{"sh", "-c", line}, params(ctx, sdk.Ignore))
	if err != nil {
		return 0, b.p.fail("running a program", err)
	}
	exit, err := cp.Wait(ctx, nil)
	if err != nil {
		return 0, b.p.fail("running a program", err)
	}
	return exit, nil
}

// Get implements [remote.Sandbox].
func (b *box) Get(ctx context.Context, name string, limit int64) ([]byte, error) {
	const what = "fetching files"
	cp, err := b.s.Exec(ctx, []string{"sh", "-c", "exec head -c " + strconv.FormatInt(limit+1, 10) + " " + name}, params(ctx, sdk.Pipe))
	if err != nil {
		return nil, b.p.fail(what, err)
	}
	defer func() { _ = cp.Stdout.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = cp.Stdout.Close() })
	defer stop()
	content, err := io.ReadAll(io.LimitReader(cp.Stdout, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = fmt.Errorf("the file has more than %d bytes", limit)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, b.p.fail(what, err)
	}
	return content, nil
}

// params are those of a command. The sandbox ends it when its time is over, should nobody be left here.
func params(ctx context.Context, stdout sdk.StdioBehavior) *sdk.SandboxExecParams {
	p := &sdk.SandboxExecParams{Stdout: stdout, Stderr: sdk.Ignore}
	if until, ok := ctx.Deadline(); ok {
		p.Timeout = max(time.Second, time.Duration(math.Ceil(time.Until(until).Seconds()))*time.Second)
	}
	return p
}

// gone reports whether err says that there is no such sandbox, or that it has ended.
func gone(err error) bool {
	if _, ok := errors.AsType[sdk.NotFoundError](err); ok {
		return true
	}
	return status.Code(err) == codes.NotFound
}

// callError is an error of the API, without what the server wrote.
type callError struct {
	what string
	err  error
	says string
}

// fail makes an error that may be shown: what was being done and the kind of trouble.
func (p *Provider) fail(what string, err error) error {
	says := strings.ReplaceAll(err.Error(), p.config.TokenSecret, "REDACTED") // before it is cut
	return &callError{what, err, plaintext.Clean(plaintext.Whole([]byte(says[:min(len(says), 1024)])))}
}

func (e *callError) Error() string {
	why := "the SDK reports an error"
	if s, ok := status.FromError(e.err); ok {
		why = "the server answered " + s.Code().String()
	}
	switch {
	case errors.Is(e.err, context.DeadlineExceeded), errors.Is(e.err, context.Canceled):
		why = "its time was over"
	case status.Code(e.err) == codes.Unauthenticated, status.Code(e.err) == codes.PermissionDenied:
		why += ": do sandbox.modal_token_id and sandbox.modal_token_secret allow this?"
	}
	return Name + ": " + e.what + ": " + why
}

func (e *callError) Unwrap() error { return e.err }

// Says is what the server wrote, for the log.
func (e *callError) Says() string { return e.says }

// Lost reports whether the call may have had an effect.
func (e *callError) Lost() bool {
	switch status.Code(e.err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled, codes.Internal, codes.Unknown:
		return true
	}
	return false
}
