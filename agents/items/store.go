package items

import (
	"context"
	"iter"
	"time"
)

// Room bounds what a user keeps.
type Room struct {
	Items int   // how many
	Bytes int64 // of all their values
}

// Ref names an item.
type Ref struct {
	Owner     string
	Namespace []string
	Key       string
}

// Store keeps items. Implementations are safe for concurrent use by several processes. Methods that are
// given a time do not see what has expired then. Errors of the storage itself match
// [agents.ErrUnavailable].
type Store interface {
	// PutItem keeps an item in the place of one of its name, whose Created stays unless that one has
	// expired at the new one's Updated. The error is ErrFull when the owner's items would need more room.
	// What has expired takes room until it is swept.
	PutItem(ctx context.Context, i Item, most Room) error
	// Items yields items whose namespaces begin with labels, the ones written last first, then by
	// namespace and key. An empty owner is everybody. The caller may stop.
	Items(ctx context.Context, owner string, prefix []string, now time.Time) iter.Seq2[Item, error]
	// Item finds an item of an owner.
	Item(ctx context.Context, r Ref, now time.Time) (Item, error)
	// ItemOwners are some of those who have an item of this name, whoever is named as its owner.
	ItemOwners(ctx context.Context, r Ref, now time.Time, limit int) ([]string, error)
	// Namespaces yields the namespaces that begin with labels and hold items, each once, in order.
	Namespaces(ctx context.Context, owner string, prefix []string, now time.Time) iter.Seq2[[]string, error]
	// RenewItems has the time of items begin anew that have one.
	RenewItems(ctx context.Context, refs []Ref, now time.Time) error
	// DeleteItem removes an item. That there is none is no error.
	DeleteItem(ctx context.Context, r Ref) error
	// SweepItems removes some items that have expired, and returns how many.
	SweepItems(ctx context.Context, now time.Time, limit int) (int, error)
}
