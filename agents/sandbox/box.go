package sandbox

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/svc-gateway/svc/agents/sandbox/wire"
	"github.com/svc-gateway/svc/internal/compat"
	"github.com/svc-gateway/svc/internal/reach"
)

// Box runs programs in sandboxes, each in a new one.
type Box struct {
	config   Config
	mode     wire.Mode
	findings []Finding
	weaker   []string
	server   *server
	own      *os.File               // its folder, locked
	lent     *lent                  // in it
	reach    func(netip.Addr) error // what the proxy may connect to
}

// Finding is what became of one attempt of the self-test to get out of a sandbox.
type Finding struct {
	Attempt string `json:"attempt"`
	Held    bool   `json:"held"`
	Found   string `json:"found,omitempty"` // what was possible
}

// openTime is how long the trial of one mode may take.
const openTime = 20 * time.Second

// Open finds the strongest sandbox that this host allows and tests it: a program of the helper's own
// tries to get out. An [Unavailable] error says why nothing can be run here.
func Open(ctx context.Context, c Config) (*Box, error) {
	if c.Full {
		return open(ctx, c, wire.Full, wire.Rooted)
	}
	return open(ctx, c, wire.Full, wire.Rooted, wire.Minimal)
}

// OpenMode is [Open] for one mode alone: full, rooted or minimal, see [Box.Mode].
func OpenMode(ctx context.Context, c Config, mode string) (*Box, error) {
	return open(ctx, c, wire.Mode(mode))
}

// open tries modes in turn.
func open(ctx context.Context, c Config, modes ...wire.Mode) (*Box, error) {
	c, err := c.complete()
	if err != nil {
		return nil, err
	}
	if err := handshake(ctx, c.Helper); err != nil {
		return nil, err
	}
	sweep(ctx, c)
	own, err := claim(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("making a folder for sockets and workspaces: %w", err)
	}
	var reasons []string
	server := &server{path: c.Helper}
	for _, mode := range modes {
		if mode == wire.Rooted && os.Geteuid() != 0 {
			continue
		}
		b := &Box{config: c, mode: mode, server: server, own: own, lent: &lent{dir: own.Name()}}
		b.reach = reach.Rule{Networks: c.Reach}.Check // never this host
		err := b.selfTest(ctx)
		if err == nil {
			b.weaker = reasons
			return b, nil
		}
		if b.findings != nil { // it works, and something got out of it
			b.Close()
			return nil, err
		}
		u, ok := errors.AsType[*Unavailable](err)
		if !ok {
			b.Close()
			return nil, err
		}
		reasons = append(reasons, fmt.Sprintf("%s: %s", mode, u.Reason))
	}
	(&Box{server: server, own: own}).Close()
	return nil, &Unavailable{"this host allows no sandbox (" + strings.Join(reasons, "; ") + ")"}
}

// With returns a Box with other limits and another timeout, also higher ones, for programs that are known.
// It is b otherwise and ends with it: it is not to be closed.
func (b *Box) With(l Limits, timeout time.Duration) *Box {
	other := *b
	other.config.Limits, other.config.Timeout = l.orDefault(), timeout
	return &other
}

// Close ends the helper, and with it what still runs.
func (b *Box) Close() {
	b.server.close()
	_ = removeAll(b.own.Name())
	_ = b.own.Close()
}

// Mode is full, rooted or minimal.
func (b *Box) Mode() string { return string(b.mode) }

// Weaker says why this host does not allow the stronger modes; empty when the mode is full.
func (b *Box) Weaker() []string { return b.weaker }

// Findings are the attempts of the self-test.
func (b *Box) Findings() []Finding { return b.findings }

// handshake asks the helper which version of the harness it speaks.
func handshake(ctx context.Context, helper string) error {
	cmd := exec.CommandContext(ctx, helper, "version")
	cmd.Env = []string{}
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return fmt.Errorf("asking %s for its version: %w", helper, ctx.Err())
	}
	if err != nil {
		return &Unavailable{fmt.Sprintf("%s does not run: %v", helper, err)}
	}
	if err := compat.Check(strings.TrimSpace(string(out))); err != nil {
		return &Unavailable{fmt.Sprintf("%s cannot be used: %v", helper, err)}
	}
	return nil
}

// newID names one run.
func newID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
