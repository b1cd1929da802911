package remote

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/sandbox"
)

// Config says what every sandbox of a [Box] has. The zero value of a field is its default.
type Config struct {
	Provider Provider
	// Installation is the label of all sandboxes of this data folder. What has it and is not in use is
	// deleted.
	Installation string
	// Timeout is how long a run may take, from asking for the sandbox to the end of the program.
	// Default: 60s.
	Timeout time.Duration
	// Limits bound what comes back: Output, and Workspace (at most 16 MiB of it) and Files. A program
	// cannot write a file of more than Workspace bytes. The other limits are the provider's.
	Limits sandbox.Limits
	// Upload is how many bytes of files are sent to one sandbox. Default: 64 MiB.
	Upload int64
	// Network is [sandbox.NoNetwork], or anything else for the provider's network.
	Network sandbox.Network
	Log     *zap.Logger // default: none
	// Tell is told how the provider is, each time that it changes: how many sandboxes could not be
	// deleted yet, and a word of package health, empty when all is well. Default: nobody is.
	Tell func(undeleted int, reason string)
	// Pace is for tests.
	Pace Pace
}

// Pace says how often things are looked at. The zero value of a field is its default.
type Pace struct {
	Poll  time.Duration // between two looks at a sandbox that starts. Default: 250ms, growing to 2s
	Retry time.Duration // before a deletion is repeated the first time. Default: 1s, growing to 1m
	Sweep time.Duration // before orphans are looked for the second time. Default: 5s, growing to 10m
}

const (
	// patience is how long a run waits for its sandbox to be deleted. Then the deletion goes on without it.
	patience = 3 * time.Second
	// collecting is how long the result of a program may take to come, at least: until the end of the run's
	// time if that is later.
	collecting = 6 * time.Second
	// afterlife is how much longer than its run a sandbox may exist, should nobody delete it.
	afterlife = time.Minute
)

// Words in Result.Degraded.
const (
	NoEgressRecord = "no_egress_record" // destinations of the program are not on record
	ProviderLimits = "provider_limits"  // memory and processes are limited by the provider
	NotDeleted     = "not_deleted"      // the sandbox still exists; deleting it is tried again
)

// Box runs programs in sandboxes of one provider, each in a new one.
type Box struct {
	config Config
	keeper *keeper
}

// Open returns a box. It looks for orphans of earlier processes beside everything else, and fails for
// nothing.
func Open(c Config) *Box {
	if c.Timeout == 0 {
		c.Timeout = time.Minute
	}
	if c.Upload == 0 {
		c.Upload = 64 << 20
	}
	if c.Limits.Workspace == 0 {
		c.Limits.Workspace = 64 << 20
	}
	if c.Limits.Files == 0 {
		c.Limits.Files = 4096
	}
	if c.Limits.Output == 0 {
		c.Limits.Output = 1 << 20
	}
	if c.Log == nil {
		c.Log = zap.NewNop()
	}
	if c.Pace.Poll == 0 {
		c.Pace.Poll = 250 * time.Millisecond
	}
	if c.Pace.Retry == 0 {
		c.Pace.Retry = time.Second
	}
	if c.Pace.Sweep == 0 {
		c.Pace.Sweep = 5 * time.Second
	}
	return &Box{config: c, keeper: newKeeper(c)}
}

// Close waits a few seconds for the sandboxes that are still to be deleted. What is left then is for the
// next process, and in the end for the provider, which ends sandboxes by itself.
func (b *Box) Close() {
	b.keeper.close()
	b.config.Provider.Close()
}

// Run runs a program in a new sandbox and waits for its end. The sandbox is deleted then; where that
// takes long it goes on without the caller, and [NotDeleted] is in the result. Errors are
// [sandbox.ErrSpec], [*sandbox.CommandError], [*sandbox.Unavailable], that of the context when it ends
// first, and that of a connection that was lost while the program ran.
func (b *Box) Run(ctx context.Context, s sandbox.Spec) (result sandbox.Result, err error) {
	j, err := b.plan(s)
	if err != nil {
		return sandbox.Result{}, err
	}
	if err := ctx.Err(); err != nil {
		return sandbox.Result{}, fmt.Errorf("running %s: %w", s.Args[0], err)
	}
	b.keeper.begin(j.run)
	defer b.keeper.end(j.run)
	start := time.Now()
	clock, cancel := context.WithDeadline(ctx, start.Add(b.config.Timeout))
	defer cancel()
	box, err := b.config.Provider.Create(clock, Order{
		Installation: b.config.Installation, Run: j.run, Life: b.config.Timeout + afterlife, Offline: j.offline,
	})
	if err != nil {
		if lost(err) || clock.Err() != nil {
			b.keeper.suspect() // there may be one
		}
		return sandbox.Result{}, b.unavailable(ctx, clock, "", err)
	}
	defer func() {
		if !b.keeper.remove(box.ID(), patience) {
			result.Degraded = append(result.Degraded, NotDeleted)
		}
	}()
	if err := b.start(clock, box, j); err != nil {
		return sandbox.Result{}, b.unavailable(ctx, clock, box.ID(), err)
	}
	timedOut, err := b.execute(ctx, clock, box, j)
	if err != nil {
		return sandbox.Result{}, err
	}
	result, err = b.collect(ctx, box, j, timedOut, start.Add(b.config.Timeout))
	result.DurationMS = time.Since(start).Milliseconds()
	return result, err
}

// start waits for the sandbox and sends the program.
func (b *Box) start(clock context.Context, box Sandbox, j job) error {
	for pause := b.config.Pace.Poll; ; pause = min(2*pause, 8*b.config.Pace.Poll) {
		ready, err := box.Ready(clock)
		if err != nil {
			return err
		}
		if ready {
			return box.Put(clock, j.in(), j.archive)
		}
		wait := time.NewTimer(pause)
		select {
		case <-wait.C:
		case <-clock.Done():
			wait.Stop()
			return clock.Err()
		}
	}
}

// execute runs the program until its end or that of its time.
func (b *Box) execute(ctx, clock context.Context, box Sandbox, j job) (timedOut bool, err error) {
	timed, cancel := context.WithTimeout(clock, j.timeout)
	defer cancel()
	exit, err := box.Exec(timed, j.runLine())
	switch {
	case ctx.Err() != nil:
		return false, fmt.Errorf("running %s: %w", j.args[0], ctx.Err())
	case timed.Err() != nil:
		return true, nil
	case err != nil:
		b.log("a remote sandbox failed while a program ran in it", box.ID(), err)
		return false, fmt.Errorf("the program was started in a sandbox of %s, and how it went is not known; the sandbox is being deleted: %w", b.config.Provider.Name(), err)
	}
	switch exit {
	case 0:
		return false, nil
	case exitNoProgram:
		return false, &sandbox.CommandError{Reason: fmt.Sprintf("there is no program %q in the sandbox of %s", j.args[0], b.config.Provider.Name())}
	}
	return false, &sandbox.Unavailable{Reason: fmt.Sprintf("the sandbox of %s cannot run programs: its shell ended with %d. It needs sh, tar and env", b.config.Provider.Name(), exit)}
}

// unavailable makes an error of a sandbox that could not be had.
func (b *Box) unavailable(ctx, clock context.Context, id string, err error) error {
	name := b.config.Provider.Name()
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("waiting for a sandbox of %s: %w", name, ctx.Err())
	case errors.Is(err, sandbox.ErrSpec):
		return err
	}
	b.log("a remote sandbox cannot be had", id, err)
	if clock.Err() != nil {
		return &sandbox.Unavailable{Reason: fmt.Sprintf("a sandbox of %s did not start within %s (runtime.timeout)", name, b.config.Timeout)}
	}
	return &sandbox.Unavailable{Reason: err.Error()}
}

func (b *Box) log(what, id string, err error) {
	b.config.Log.Warn(what, zap.String("provider", b.config.Provider.Name()), zap.String("sandbox", id), zap.Error(err), zap.String("says", says(err)))
}

// newID names one run.
func newID() string {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}
