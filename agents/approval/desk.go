package approval

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/scanner/redact"
)

// Runs is what a desk needs of the runtime; [agents.Host] has it.
type Runs interface {
	Wake(ctx context.Context, run string) error
	Examine(ctx context.Context, run, call, patch string) (agents.Examined, error)
}

// Notifier is told of approvals. Its methods must not block: what takes time is for a goroutine of its
// own. Each approval is told of at most once by each method; a process that dies may tell of none.
type Notifier interface {
	// Requested is called when a call waits for people.
	Requested(ctx context.Context, v View)
	// Decided is called when it was approved, edited, rejected or has expired.
	Decided(ctx context.Context, v View)
}

// DeskConfig is what a desk works with. Every field is required but Now.
type DeskConfig struct {
	Store    Store
	Runs     Runs
	Audit    *audit.Log
	Identity agents.Identity
	Log      *zap.Logger
	Now      func() time.Time // default time.Now
}

// Config is how a desk works at present.
type Config struct {
	TTL     time.Duration   // how long a call waits for people, and an approval for its use
	Auto    bool            // runs of admins go on without a person where that is allowed
	Notify  []Notifier      // default: nobody is told
	Secrets *redact.Secrets // values that are shown to nobody; default: none
}

// DefaultTTL is how long a call waits when nobody says otherwise.
const DefaultTTL = 15 * time.Minute

// Desk is where calls wait for people. Make it with [Open] and give it to [agents.Setup].
type Desk struct {
	DeskConfig
	base context.Context // of what goes on by itself; ends with Close
	stop context.CancelFunc
	work sync.WaitGroup

	mu     sync.Mutex
	serves []*Config // the last one counts
	closed bool
}

var _ agents.Holds = (*Desk)(nil)

// Open returns a desk. It works with the defaults, and does nothing by itself until [Desk.Serve].
func Open(c DeskConfig) *Desk {
	if c.Now == nil {
		c.Now = time.Now
	}
	d := &Desk{DeskConfig: c}
	d.base, d.stop = context.WithCancel(context.Background())
	return d
}

// Serve has the desk work with a configuration until the release is called; then the one before it
// counts again. It looks after approvals that have expired, and after decisions that nobody was woken
// for: now, and from time to time.
func (d *Desk) Serve(c Config) (release func()) {
	if c.TTL <= 0 {
		c.TTL = DefaultTTL
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	first := len(d.serves) == 0
	d.serves = append(d.serves, &c)
	if first && !d.closed {
		d.work.Go(d.sweepAgain)
	}
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.serves = slices.DeleteFunc(d.serves, func(s *Config) bool { return s == &c })
	}
}

// config is how the desk works now.
func (d *Desk) config() Config {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := len(d.serves); n > 0 {
		return *d.serves[n-1]
	}
	return Config{TTL: DefaultTTL}
}

// Close ends what the desk does by itself. It goes on to answer.
func (d *Desk) Close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.stop()
	d.work.Wait()
}

// wake has a run look at its calls again, beside whatever else goes on. What fails is done again by the
// sweep.
func (d *Desk) wake(run string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	d.work.Go(func() {
		if err := d.Runs.Wake(d.base, run); err != nil && d.base.Err() == nil {
			d.Log.Debug("waking a run failed, trying again", zap.String("run", run), zap.Error(err))
		}
	})
}

// tell has everybody told who wants to know.
func (d *Desk) tell(ctx context.Context, a *Approval, method func(Notifier, context.Context, View)) {
	c := d.config()
	for _, n := range c.Notify {
		method(n, ctx, a.Show(c.Secrets))
	}
}
