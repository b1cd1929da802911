package syslog

import "sync/atomic"

// counters say what became of messages so far.
type counters struct {
	received, stored, dropped, lost, unknown, truncated, refused, broken atomic.Int64
}

// Totals say what became of messages.
type Totals struct {
	Received  int64 `json:"received"`
	Stored    int64 `json:"stored"`
	Dropped   int64 `json:"dropped"`   // came faster than they could be stored, or could not be stored
	Lost      int64 `json:"lost"`      // dropped by the kernel before they were read
	Unknown   int64 `json:"unknown"`   // of no known form; they are stored
	Truncated int64 `json:"truncated"` // longer than 64 KiB; their beginning is stored
	Refused   int64 `json:"refused"`   // datagrams and connections of who may not send, or one too many
	Broken    int64 `json:"broken"`    // streams that could not be cut into messages to their end
}

// Totals are those so far.
func (r *Receiver) Totals() Totals {
	c := &r.count
	return Totals{
		c.received.Load(), c.stored.Load(), c.dropped.Load(), c.lost.Load(), c.unknown.Load(), c.truncated.Load(), c.refused.Load(), c.broken.Load(),
	}
}

// missing is how many messages are not stored.
func (t Totals) missing() int64 { return t.Dropped + t.Lost }
