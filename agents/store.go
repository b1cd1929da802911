package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/tree"
)

// Errors of a [Store].
var (
	ErrNotFound       = errors.New("not found")
	ErrThreadNotFound = fmt.Errorf("thread %w", ErrNotFound)
	ErrRunNotFound    = fmt.Errorf("run %w", ErrNotFound)

	ErrBusy     = errors.New("another run is active on the thread")
	ErrConflict = errors.New("the run was changed by somebody else")
	// ErrUnavailable is matched by errors of the storage itself: nothing can be read or written at
	// present.
	ErrUnavailable = errors.New("the state of threads and runs is not available")
	// ErrRequested is the answer to a second run for a request.
	ErrRequested = errors.New("there is a run for this request")
	// ErrQueueFull is the answer when too many runs of a user wait.
	ErrQueueFull = errors.New("too many runs wait")
	// ErrThreadFull is the answer to who says more in a thread than there is room for.
	ErrThreadFull = errors.New("the thread is full")
	// ErrUnreadable is matched when another version wrote a run in a form that this one cannot read.
	ErrUnreadable = errors.New("the run's data cannot be read")
)

// RunInfo is what a run is listed with.
type RunInfo struct {
	ID        string
	Thread    string
	Owner     string // the user whom the thread belongs to
	Assistant string
	Status    Status
	Version   int64 // number of times it was saved
	Created   time.Time
	Updated   time.Time

	Metadata  map[string]any
	Kwargs    json.RawMessage // as they came with the request; nil: none
	Multitask Multitask
	Failure   *Failure // why it did not succeed
	Hidden    bool     // it was taken back or removed
}

// RunFilter selects runs, newest first. Empty fields select all.
type RunFilter struct {
	Thread string
	Owner  string
	Status []Status
	Before string // only runs that are older than this one
	Limit  int    // how many at most; required
}

// What a thread holds at most, of all its branches: reading its state takes memory for all of it. What a run
// that is under way says is added in any case.
const (
	MaxMessages = 100_000
	MaxSaid     = 16 << 20 // bytes of texts and calls
)

// MaxQueued is how many runs of a user may wait for their threads, or for their time.
const MaxQueued = 200

// Store keeps threads, runs and event logs. Implementations are safe for concurrent use by
// several processes: claims and saves are compare-and-swap. What a method has returned
// without error is there after a crash of the process.
type Store interface {
	CreateThread(ctx context.Context, t Thread) error
	Thread(ctx context.Context, id string) (Thread, error)
	// Threads lists a page and the number of all that match. Ephemeral threads are left out.
	Threads(ctx context.Context, f ThreadFilter) ([]Thread, int, error)
	// UpdateThread changes a thread and returns it. The time is the one of the change.
	UpdateThread(ctx context.Context, id string, p ThreadPatch, at time.Time) (Thread, error)
	// CopyThread creates a thread with the writes of another one.
	CopyThread(ctx context.Context, id string, to Thread) error
	// Messages are those of a thread's state after its first n writes, in the branch of the last of
	// these; with n < 0 of the state where the thread stands.
	Messages(ctx context.Context, thread string, n int) ([]model.Message, error)
	// Tree is all that was written in a thread.
	Tree(ctx context.Context, thread string) (tree.Tree, error)
	// Write adds writes, each of which follows the one before it, the first one the write after, and
	// has the thread stand at the last. It returns the place of the first. The error is ErrBusy while a
	// run has the thread, or one waits for it, and ErrConflict when it has another number of writes.
	Write(ctx context.Context, thread string, after, number int, writes []tree.Write) (int, error)
	// Room is ErrThreadFull or ErrValuesTooLarge when a thread has no room for writes. Write and CreateRun
	// ask the same.
	Room(ctx context.Context, thread string, writes []tree.Write) error
	// Prune removes what is not on the way to where the thread stands, and hides what is.
	Prune(ctx context.Context, thread string) error

	// CreateRun saves a new run with the input that it adds to its thread, and claims the
	// thread: ErrBusy while another run has it, also one that waits. A non-nil fresh thread is
	// created with it; an ephemeral thread that gets a second run is ephemeral no more. It sets
	// Base and, where the thread is not linear, Follows.
	//
	// Instead of ErrBusy, and when it is due later, a run that may wait for others is saved as pending:
	// it is Queued, and the thread stays theirs. At most MaxQueued runs of an owner wait; the
	// error of one more is ErrQueueFull. The error is ErrRequested when there is a run for the same request.
	CreateRun(ctx context.Context, r *Run, input []model.Message, fresh *Thread) error
	// StartRun saves a run that was queued as one that works, adds its input to the thread and claims
	// it, like CreateRun. What it displaces by MultitaskRollback is taken back. The error is ErrBusy
	// while it is not its turn.
	StartRun(ctx context.Context, r *Run, input []model.Message) error
	// Queue are runs that wait for their thread, that are due at a time, and whose turn it is or which
	// displace others, the oldest first.
	Queue(ctx context.Context, now time.Time, limit int) ([]string, error)
	// NextDue is when a run is due that waits, the first one after a time; the zero time: none is.
	NextDue(ctx context.Context, after time.Time) (time.Time, error)
	// Requested is the run for a request; ErrRunNotFound: there is none.
	Requested(ctx context.Context, request string) (*Run, error)
	// RollBack hides a run that is over, and has its thread stand where it stood before it. The error is
	// ErrBusy when another run has the thread, or something was written after the run's end.
	RollBack(ctx context.Context, run string) error
	// RemoveRun removes a run that is over, with its events and approvals. ErrBusy when it is not.
	RemoveRun(ctx context.Context, run string) error
	// SaveRun replaces the run if its version is still r.Version, and raises it; otherwise the
	// error is ErrConflict. So do the next three, which change more besides, all at once.
	SaveRun(ctx context.Context, r *Run) error
	// SuspendRun saves a run that waits and marks its thread interrupted.
	SuspendRun(ctx context.Context, r *Run) error
	// ResumeRun saves a run that goes on and marks its thread busy.
	ResumeRun(ctx context.Context, r *Run) error
	// FinishRun saves a run in its final state, adds its messages to the thread and then the run's Edit,
	// appends the last events and frees the thread.
	FinishRun(ctx context.Context, r *Run, messages []model.Message, events []eventlog.Event) error

	// Run reads all of a run. With ErrUnreadable it returns what can be told of it nevertheless:
	// ids, assistant, status and version.
	Run(ctx context.Context, id string) (*Run, error)
	RunInfo(ctx context.Context, id string) (RunInfo, error)
	// Runs lists runs. It uses an index for the thread, for the owner and for those that are not
	// in a final state. Runs that were taken back or removed are left out, and RunInfo has them Hidden.
	Runs(ctx context.Context, f RunFilter) ([]RunInfo, error)

	// AppendEvents adds consecutive events to a run's log. Events of their numbers that somebody
	// else has added make it ErrConflict.
	AppendEvents(ctx context.Context, run string, events []eventlog.Event) error
	// Events are at most limit events of a run from a sequence number on.
	Events(ctx context.Context, run string, from, limit int) ([]eventlog.Event, error)
	// NextEvent is the sequence number after a run's last event, 0 for an empty log.
	NextEvent(ctx context.Context, run string) (int, error)

	// DeleteThread removes a thread with its messages, runs and events, in pieces that let others
	// write meanwhile. From the first on the thread is not found. ErrBusy while a run has it, also
	// one that waits, and when something has happened in it since the time before; a zero time allows
	// that. A removal that was interrupted goes on.
	DeleteThread(ctx context.Context, id string, before time.Time) error
	// HalfRemoved are ids of threads whose removal was interrupted.
	HalfRemoved(ctx context.Context, limit int) ([]string, error)
	// StaleThreads are ids of threads that nothing has happened in since a time and that no run has,
	// the oldest first.
	StaleThreads(ctx context.Context, ephemeral bool, before time.Time, limit int) ([]string, error)
	// ExpiredThreads are ids of threads that no run has and whose own time is over.
	ExpiredThreads(ctx context.Context, now time.Time, limit int) ([]string, error)
	// StaleEvents reports whether there are events of runs that were over at a time.
	StaleEvents(ctx context.Context, before time.Time) (bool, error)
	// DeleteEvents removes some of these, and returns how many pieces it has removed: none when there
	// are none left.
	DeleteEvents(ctx context.Context, before time.Time) (int, error)
	// Size is what all of it takes, in bytes.
	Size(ctx context.Context) (int64, error)

	Close() error
}
