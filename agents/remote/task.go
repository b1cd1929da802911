package remote

import (
	"context"
	"errors"
	"strings"
	"time"
)

// Prefix begins the names by which agents know remote ones.
const Prefix = "remote-"

// Status is where a task stands.
type Status string

// The states of a task. The last four are final.
const (
	Starting  Status = "starting" // it is not known yet whether the remote has it
	Running   Status = "running"
	Waiting   Status = "interrupted" // the remote waits for an answer, see Asks
	Success   Status = "success"
	Failed    Status = "error"
	Timeout   Status = "timeout"
	Cancelled Status = "cancelled"
)

// Final reports whether a task in this state does nothing any more. A message may have it go on.
func (s Status) Final() bool {
	switch s {
	case Starting, Running, Waiting:
		return false
	}
	return true
}

// Task is something that a remote agent was asked to do.
type Task struct {
	ID     string `json:"id"` // the name of the remote, a hyphen and a random word
	Owner  string `json:"owner"`
	Thread string `json:"thread"` // of ours, in which it was started
	Agent  string `json:"agent"`  // of ours, which started it
	Remote string `json:"remote"` // name in the settings
	Text   string `json:"text"`   // what is to be done, redacted

	RemoteThread string `json:"remote_thread"`
	RemoteRun    string `json:"remote_run,omitempty"` // the last one; empty: it is not known yet
	LastEvent    string `json:"last_event,omitempty"` // of that run, from where its stream goes on
	Sent         int    `json:"sent"`                 // number of requests for runs

	Status  Status `json:"status"`
	Steps   int    `json:"steps,omitempty"`   // that the remote told of
	Answer  string `json:"answer,omitempty"`  // what it said last, redacted
	Failure string `json:"failure,omitempty"` // in words of ours
	Asks    *Asks  `json:"asks,omitempty"`    // while it waits
	Unread  bool   `json:"unread,omitempty"`  // the thread's agents were not told of the last change

	Created time.Time `json:"created"`
	Began   time.Time `json:"began"` // of the last run
	Updated time.Time `json:"updated"`
	Version int64     `json:"-"` // number of times it was saved
}

// Name is what agents call a remote of the settings.
func Name(remote string) string { return Prefix + remote }

// name is what agents call the task's remote.
func (t *Task) name() string { return Name(t.Remote) }

// label is the source of what the task's remote says.
func (t *Task) label() string { return "remote:" + t.Remote }

// Bounds of what is kept.
const (
	MaxOpen   = 16             // tasks of a user that are not over
	MaxKept   = 200            // tasks of a user
	maxText   = 32 << 10       // bytes of what a remote is told
	maxAnswer = 64 << 10       // bytes of what it said that are kept
	maxAsks   = 32 << 10       // bytes of what it waits for, as people are shown it
	maxAsked  = 32             // answers that it waits for at a time
	maxAge    = 24 * time.Hour // of a run of a remote; then the task is over
)

// Errors of a [Store].
var (
	ErrNotFound = errors.New("task not found")
	ErrConflict = errors.New("the task was changed by somebody else")
	ErrFull     = errors.New("too many tasks are under way")
)

// Filter selects tasks. Empty fields select all.
type Filter struct {
	Owner, Thread string
	Open          bool // only those that are not over
	Unread        bool // only those with news
	Limit         int  // how many at most; required
}

// Store keeps tasks. Implementations are safe for concurrent use by several processes. Errors of the storage
// itself match [agents.ErrUnavailable].
type Store interface {
	// CreateTask keeps a new task; its version is 1. The error is ErrFull when its owner has more than MaxOpen
	// that are not over. Of an owner's tasks that are over, the oldest beyond MaxKept are removed.
	CreateTask(ctx context.Context, t Task) error
	// RemoteTask finds a task.
	RemoteTask(ctx context.Context, id string) (Task, error)
	// RemoteTasks lists tasks, the newest first.
	RemoteTasks(ctx context.Context, f Filter) ([]Task, error)
	// SaveTask saves a task with the next version. The error is ErrConflict when somebody has saved it since it
	// was read, or it is gone.
	SaveTask(ctx context.Context, t *Task) error
}

// remoteOf is the name of the remote in the id of a task.
func remoteOf(id string) string { return id[:max(0, strings.LastIndexByte(id, '-'))] }
