package memory

import (
	"context"
	"time"
)

// Room bounds what a user has.
type Room struct {
	Entries int   // how many
	Bytes   int64 // of all their texts
}

// Query asks for the memories that fit a task.
type Query struct {
	Owner string
	Agent string   // whose memories are asked for, beside those of all agents
	Words []string // as [Words] returns them, each once; at most 24 count
	Limit int      // how many at most; required
}

// Found is a memory with how well it fits.
type Found struct {
	Entry
	Score float64 // above 0; comparable within one answer
}

// Filter selects memories, the ones made last first. Empty fields select all.
type Filter struct {
	Owner    string
	Agents   []string // one of them has it; the empty name stands for memories of all agents
	Category Category
	Before   string // only those that are older than the one with this id
	Limit    int    // how many at most; required
}

// Kept says what became of a memory.
type Kept struct {
	ID     string // of it, or of the one that says the same
	Merged bool   // there was one that says the same
	Gone   int    // how many others made room for it
}

// Store keeps memories. Implementations are safe for concurrent use by several processes. Errors of the
// storage itself match [agents.ErrUnavailable].
type Store interface {
	// KeepMemory keeps a memory. Where the same agent of the same owner has one with its Key, that one counts
	// once more, with the labels of both and the new one's Updated, Used, Category, Run and Thread. While the
	// owner has more than there is room for, others go: those that are not their owner's own words first, and
	// of these the ones that were of no use for the longest time. The error is ErrFull when the new one would
	// have to go itself.
	KeepMemory(ctx context.Context, e Entry, most Room) (Kept, error)
	// SearchMemories finds the memories with the most of the words, rare words counting more (BM25, in which
	// a word counts once for each memory, and over the memories of this owner alone), the best first.
	SearchMemories(ctx context.Context, q Query) ([]Found, error)
	// Memories lists memories.
	Memories(ctx context.Context, f Filter) ([]Entry, error)
	// NearMemories finds the memories whose vectors of the same model are nearest, the nearest first. Of one
	// agent with more than 4,096 the newest are looked at. Scores are cosines above 0.
	NearMemories(ctx context.Context, n Near) ([]Found, error)
	// KeepVector keeps the vector of a memory, which is of length one, in the place of an earlier one.
	KeepVector(ctx context.Context, id, model string, v []float32) error
	// BareMemories lists memories of an owner that have no vector of a model.
	BareMemories(ctx context.Context, owner, model string, limit int) ([]Entry, error)
	// UsedMemories notes that memories were recalled. It does not wait for the storage.
	UsedMemories(ctx context.Context, ids []string, now time.Time) error
	// ForgetMemories removes memories and returns those that were there, without their texts. With an owner
	// only that one's are removed.
	ForgetMemories(ctx context.Context, owner string, ids []string) ([]Entry, error)
	// ClearMemories removes the memories of an owner that were made before a time, all for the zero time, and
	// returns how many there were.
	ClearMemories(ctx context.Context, owner string, before time.Time) (int, error)
	// SweepMemories removes some memories that were used last before a time, and returns how many.
	SweepMemories(ctx context.Context, before time.Time, limit int) (int, error)
	// EraseMemories has nothing of what was removed before the call be left in the storage's files.
	EraseMemories(ctx context.Context) error
}
