package agents

import (
	"errors"
	"fmt"
	"time"
)

// ErrThreadExists is the answer to who wants to create a thread under an id that is taken.
var ErrThreadExists = errors.New("there is a thread with this id")

// ThreadStatus is where a thread stands.
type ThreadStatus string

// The states of a thread.
const (
	ThreadIdle        ThreadStatus = "idle"
	ThreadBusy        ThreadStatus = "busy"
	ThreadInterrupted ThreadStatus = "interrupted" // its run waits for something outside
	ThreadError       ThreadStatus = "error"
)

// Thread is a conversation. Its messages are read with [View.State].
type Thread struct {
	ID       string         `json:"thread_id"`
	Owner    string         `json:"user_id"`
	Created  time.Time      `json:"created_at"`
	Updated  time.Time      `json:"updated_at"`
	Status   ThreadStatus   `json:"status"`
	Metadata map[string]any `json:"metadata"`
	TTL      time.Duration  `json:"-"` // it is removed when nothing has happened in it for so long; 0: by the retention alone
	Messages int            `json:"-"` // how many writes it has
	// Ephemeral threads were made for a single run and are not listed.
	Ephemeral bool `json:"-"`
}

// alone reports whether no run has the thread.
func (t *Thread) alone() bool { return t.Status != ThreadBusy && t.Status != ThreadInterrupted }

// IfExists says what becomes of the creation of what is there already.
type IfExists string

// The ways to create a thread.
const (
	Raise     IfExists = ""           // the error is ErrThreadExists
	DoNothing IfExists = "do_nothing" // the one that is there is returned, as it is
)

// ThreadRequest asks for a thread.
type ThreadRequest struct {
	ID       string // a UUID; empty: a new one
	Metadata map[string]any
	TTL      time.Duration
	Values   map[string]any // of its state, beside messages
	IfExists IfExists
}

// ThreadPatch changes a thread. What is nil stays.
type ThreadPatch struct {
	Metadata map[string]any // merged into what is there; a value nil takes the name away
	TTL      *time.Duration // 0: by the retention alone
}

// ThreadFilter selects threads, newest first. Empty fields select all.
type ThreadFilter struct {
	Owner    string // empty: everybody's
	Status   ThreadStatus
	IDs      []string
	Metadata map[string]any // contained in the thread's
	Values   map[string]any // contained in the values of its state, beside messages
	Limit    int
	Offset   int

	SortBy    SortBy
	Ascending bool
}

// SortBy is what threads are sorted by.
type SortBy string

// What threads are sorted by.
const (
	SortUpdated SortBy = "updated_at" // also when nothing is said
	SortCreated SortBy = "created_at"
	SortID      SortBy = "thread_id"
	SortStatus  SortBy = "status"
)

// FieldError says which field of a request cannot be used, and why.
type FieldError struct {
	Field, Message string
}

func (e *FieldError) Error() string { return fmt.Sprintf("%s: %s", e.Field, e.Message) }

// The ways to prune threads.
const (
	PruneDelete = "delete"      // they are removed
	PruneKeep   = "keep_latest" // what their state was earlier is, and cannot be gone back to
)
