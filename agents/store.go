package agents

import (
	"context"
	"errors"
	"time"

	"github.com/svc-gateway/svc/agents/model"
)

// Errors of a [Store].
var (
	ErrNotFound = errors.New("not found")
	ErrBusy     = errors.New("another run is active on the thread")
	ErrConflict = errors.New("the run was changed by somebody else")
)

// ThreadStatus is where a thread stands.
type ThreadStatus string

// The states of a thread.
const (
	ThreadIdle        ThreadStatus = "idle"
	ThreadBusy        ThreadStatus = "busy"
	ThreadInterrupted ThreadStatus = "interrupted"
	ThreadError       ThreadStatus = "error"
)

// Thread is a conversation. Its messages are read with [Store.Messages].
type Thread struct {
	ID       string         `json:"thread_id"`
	Owner    string         `json:"user_id"`
	Created  time.Time      `json:"created_at"`
	Updated  time.Time      `json:"updated_at"`
	Status   ThreadStatus   `json:"status"`
	Metadata map[string]any `json:"metadata"`
	Messages int            `json:"-"` // how many it has
	// Ephemeral threads were made for a single run and are not listed.
	Ephemeral bool `json:"-"`
}

// ThreadFilter selects threads, newest first.
type ThreadFilter struct {
	Owner  string // empty: everybody's
	Status ThreadStatus
	Limit  int
	Offset int
}

// Store keeps threads, runs and event logs. Implementations are safe for concurrent use by
// several processes: claims and saves are compare-and-swap. What a method has returned
// without error is there after a crash of the process.
type Store interface {
	CreateThread(ctx context.Context, t Thread) error
	Thread(ctx context.Context, id string) (Thread, error)
	// Threads lists a page and the number of all that match. Ephemeral threads are left out.
	Threads(ctx context.Context, f ThreadFilter) ([]Thread, int, error)
	// Messages are a thread's first n messages, oldest first; all of them when n < 0.
	Messages(ctx context.Context, thread string, n int) ([]model.Message, error)

	// CreateRun saves a new run with the input that it adds to its thread, and claims the
	// thread: ErrBusy while another run has it. A non-nil fresh thread is created with it;
	// an ephemeral thread that gets a second run is ephemeral no more. It sets Base.
	CreateRun(ctx context.Context, r *Run, input []model.Message, fresh *Thread) error
	// SaveRun replaces the run if its version is still r.Version, and raises it.
	SaveRun(ctx context.Context, r *Run) error
	// FinishRun saves a run in its final state, adds its messages to the thread, appends
	// the last events and frees the thread, all at once.
	FinishRun(ctx context.Context, r *Run, messages []model.Message, events []Event) error
	Run(ctx context.Context, id string) (*Run, error)
	LatestRun(ctx context.Context, thread string) (*Run, error)
	// Unfinished lists the runs that are not in a final state.
	Unfinished(ctx context.Context) ([]*Run, error)

	// AppendEvents adds consecutive events to a run's log.
	AppendEvents(ctx context.Context, run string, events []Event) error
	// Events are at most limit events of a run from a sequence number on.
	Events(ctx context.Context, run string, from, limit int) ([]Event, error)

	Close() error
}
