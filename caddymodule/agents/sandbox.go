package agents

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/analytics"
	"github.com/svc-gateway/svc/agents/sandbox"
	"github.com/svc-gateway/svc/agents/tools"
)

// readyTime is how long a call waits for the sandbox to be found out, right after the start.
const readyTime = 30 * time.Second

// box is the sandbox of the host's programs. It is found out once, while the service serves already.
type box struct {
	stop  context.CancelFunc
	ready chan struct{} // closed when the rest is known
	box   *sandbox.Box  // nil when there is none
	err   error
}

var _ tools.Sandbox = (*box)(nil)

// openBox begins to find out which sandbox this host allows. The service goes on without one.
func openBox(c sandbox.Config, log *zap.Logger) *box {
	ctx, cancel := context.WithCancel(context.Background())
	b := &box{stop: cancel, ready: make(chan struct{})}
	go func() {
		defer close(b.ready)
		if b.box, b.err = sandbox.Open(ctx, c); ctx.Err() == nil {
			b.tell(c, log)
		}
	}()
	return b
}

// tell says in the log what was found.
func (b *box) tell(c sandbox.Config, log *zap.Logger) {
	if b.err != nil {
		log.Warn("programs cannot be run in a sandbox, and are refused", zap.Error(b.err))
		return
	}
	if c.Network == sandbox.HostNetwork {
		log.Warn("programs in the sandbox reach the host's network, because sandbox.network is host")
	}
	if b.box.Mode() == "full" {
		log.Info("programs can be run in a sandbox", zap.String("mode", b.box.Mode()))
		return
	}
	log.Warn("programs can be run in a sandbox that is weaker than it could be",
		zap.String("mode", b.box.Mode()), zap.Strings("because", b.box.Weaker()))
}

// Run implements [tools.Sandbox].
func (b *box) Run(ctx context.Context, s sandbox.Spec) (sandbox.Result, error) {
	if err := b.found(ctx); err != nil {
		return sandbox.Result{}, err
	}
	return b.box.Run(ctx, s)
}

// found waits until the sandbox is found out. The error is why there is none.
func (b *box) found(ctx context.Context) error {
	wait := time.NewTimer(readyTime)
	defer wait.Stop()
	select {
	case <-b.ready:
	case <-ctx.Done():
		return fmt.Errorf("waiting for the sandbox: %w", context.Cause(ctx))
	case <-wait.C:
		return &sandbox.Unavailable{Reason: "the sandbox is still being tested; try again later"}
	}
	switch {
	case b.err != nil && sandbox.IsUnavailable(b.err):
		return b.err
	case b.err != nil:
		return &sandbox.Unavailable{Reason: b.err.Error()}
	}
	return nil
}

// query runs a process that asks the analytical database in the sandbox. The process confines itself, so
// that it runs without one where there is none, and as long as that is not known.
func (b *box) query(ctx context.Context, p analytics.Process) ([]byte, error) {
	select {
	case <-b.ready:
		if b.box != nil {
			return analytics.RunIn(b.box)(ctx, p)
		}
	default:
	}
	return analytics.RunHere(ctx, p)
}

// close ends the sandbox, and what still runs in it.
func (b *box) close() {
	b.stop()
	<-b.ready
	if b.box != nil {
		b.box.Close()
	}
}
