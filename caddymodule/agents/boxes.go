package agents

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/roster"
	"github.com/svc-gateway/svc/agents/sandbox"
	"github.com/svc-gateway/svc/agents/sandbox/remote"
	"github.com/svc-gateway/svc/agents/sandbox/remote/daytona"
	"github.com/svc-gateway/svc/agents/sandbox/remote/modal"
	"github.com/svc-gateway/svc/agents/sandbox/remote/runloop"
	"github.com/svc-gateway/svc/agents/tools"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/internal/health"
	"github.com/svc-gateway/svc/internal/keyfile"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/internal/suggest"
)

// boxes are the sandboxes of programs: that of this host, and those that others lend.
type boxes struct {
	local   *box
	choice  settings.Sandbox
	remote  map[string]*remote.Box
	unwatch []func()
}

var _ tools.Sandbox = (*boxes)(nil)

// openBoxes opens the sandboxes that the settings want. None of them is asked for anything yet, but the
// remote ones for what an earlier process has left there.
func openBoxes(a *app.App, log *zap.Logger) (*boxes, error) {
	s := a.Settings()
	b := &boxes{choice: s.Sandbox, remote: map[string]*remote.Box{}}
	if err := knownAgents(s.Sandbox.Agents, a.Home().Agents()); err != nil {
		return nil, err
	}
	providers := map[string]remote.Provider{}
	for _, name := range s.Sandbox.Remote() {
		p, err := newProvider(name, s.Sandbox)
		if err != nil {
			return nil, err
		}
		providers[name] = p
	}
	if len(providers) > 0 {
		id, err := installation(a.Home())
		if err != nil {
			return nil, err
		}
		local := sandbox.FromSettings(s, a.Home())
		for name, p := range providers {
			set, end := a.Part("sandbox."+name, name)
			b.unwatch = append(b.unwatch, end)
			b.remote[name] = remote.Open(remote.Config{
				Provider: p, Installation: id, Timeout: s.Runtime.Timeout, Limits: local.Limits, Upload: s.Sandbox.UploadSize,
				Network: local.Network, Log: log, Tell: partOf(name, set),
			})
		}
	}
	b.local = openBox(sandbox.FromSettings(s, a.Home()), log)
	return b, nil
}

// partOf makes a part of the service's health of what a box tells.
func partOf(kind string, set func(health.Part)) func(undeleted int, reason string) {
	last := health.NewPart(kind, time.Now(), "")
	return func(undeleted int, reason string) { // called by one at a time
		if reason != last.Reason {
			last = health.NewPart(kind, time.Now(), reason)
		}
		last.Undeleted = undeleted
		set(last)
	}
}

// knownAgents refuses a choice for an agent that does not exist.
func knownAgents(choices []string, folder string) error {
	names, err := roster.Names(folder)
	if err != nil {
		return err
	}
	for _, choice := range choices {
		if name, _, _ := strings.Cut(choice, "="); !slices.Contains(names, name) {
			return fmt.Errorf("sandbox.agents: there is no agent %q%s: the agents are %s", name, suggest.DidYouMean(name, names), strings.Join(names, ", "))
		}
	}
	return nil
}

// newProvider makes the client of a provider.
func newProvider(name string, s settings.Sandbox) (remote.Provider, error) {
	switch name {
	case settings.SandboxDaytona:
		key, err := reveal("sandbox.daytona_key", s.Daytona.Key)
		if err != nil {
			return nil, err
		}
		return daytona.New(daytona.Config{URL: s.Daytona.URL, Key: key, Snapshot: s.Daytona.Snapshot, Target: s.Daytona.Target})
	case settings.SandboxRunloop:
		key, err := reveal("sandbox.runloop_key", s.Runloop.Key)
		if err != nil {
			return nil, err
		}
		return runloop.New(runloop.Config{URL: s.Runloop.URL, Key: key, Blueprint: s.Runloop.Blueprint, Policy: s.Runloop.NetworkPolicy})
	case settings.SandboxModal:
		secret, err := reveal("sandbox.modal_token_secret", s.Modal.TokenSecret)
		if err != nil {
			return nil, err
		}
		return modal.New(modal.Config{
			URL: s.Modal.URL, TokenID: s.Modal.TokenID, TokenSecret: secret, Environment: s.Modal.Environment, App: s.Modal.App, Image: s.Modal.Image,
		})
	}
	return nil, fmt.Errorf("sandbox.provider: unknown provider %q", name)
}

var installationID = regexp.MustCompile(`^[0-9a-f]{32}$`)

// installation is the id of the data folder, which is made when it is needed first.
func installation(home settings.Home) (string, error) {
	id, err := keyfile.Read(home.Installation(), func() ([]byte, error) {
		b := make([]byte, 16)
		_, _ = rand.Read(b) // never fails
		return []byte(hex.EncodeToString(b)), nil
	})
	if err != nil {
		return "", fmt.Errorf("reading the id of this installation: %w", err)
	}
	if !installationID.Match(id) {
		return "", fmt.Errorf("%s is not the id of an installation: remove the file to have another made; remote sandboxes that are left under the old id end by themselves", home.Installation())
	}
	return string(id), nil
}

// Run implements [tools.Sandbox]: an agent's program runs where the settings say, the rest on this host.
func (b *boxes) Run(ctx context.Context, s sandbox.Spec) (sandbox.Result, error) {
	if s.Agent != "" {
		if r, ok := b.remote[b.choice.For(s.Agent)]; ok {
			return r.Run(ctx, s)
		}
	}
	return b.local.Run(ctx, s)
}

// close ends the sandboxes, and what still runs in them.
func (b *boxes) close() {
	for _, r := range b.remote {
		r.Close()
	}
	for _, end := range b.unwatch {
		end()
	}
	b.local.close()
}

// place says where programs run, where that is not this host alone.
func place(s settings.Sandbox) string {
	if s.Provider == settings.SandboxLocal && len(s.Agents) == 0 {
		return ""
	}
	text := "in a sandbox of " + s.Provider
	if s.Provider == settings.SandboxLocal {
		text = "in a sandbox on this host"
	}
	if len(s.Agents) > 0 {
		text += " (" + strings.Join(s.Agents, ", ") + ")"
	}
	return text
}
