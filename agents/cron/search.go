package cron

import (
	"cmp"
	"context"
	"slices"

	"github.com/svc-gateway/svc/agents/own"
	"github.com/svc-gateway/svc/agents/page"
	"github.com/svc-gateway/svc/internal/within"
	"github.com/svc-gateway/svc/policy"
)

// Filter selects crons. Empty fields select all.
type Filter struct {
	Owner     string // whose; empty: one's own, everybody's for an admin
	Assistant string
	Thread    string
	Enabled   *bool
	Metadata  map[string]any // which the cron's contains, see [within.JSON]
	SortBy    string         // one of [SortFields]; empty: created_at
	Ascending bool
	Limit     int // how many at most; required
	Offset    int
}

// SortFields are what lists can be sorted by.
var SortFields = []string{"cron_id", "assistant_id", "thread_id", "next_run_date", "end_time", "created_at", "updated_at"}

// Search lists a page of crons, the newest first unless the filter says otherwise, and the number of all
// that match.
func (t *Table) Search(ctx context.Context, p policy.Principal, f Filter) (list []Cron, total int, err error) {
	if f.SortBy == "" {
		f.SortBy = "created_at"
	}
	if err := page.Check(f.Limit, f.Offset, f.SortBy, SortFields); err != nil {
		return nil, 0, err
	}
	all, err := t.matching(ctx, p, f)
	if err != nil {
		return nil, 0, err
	}
	slices.SortFunc(all, f.order)
	list, err = page.Read(all, f.Offset, f.Limit, ErrNotFound, func(c Cron) (Cron, error) { return t.Store.Cron(ctx, c.ID) })
	return list, len(all), err
}

// Count is the number of crons that match.
func (t *Table) Count(ctx context.Context, p policy.Principal, f Filter) (int, error) {
	all, err := t.matching(ctx, p, f)
	return len(all), err
}

// matching are all crons that match, without what is large.
func (t *Table) matching(ctx context.Context, p policy.Principal, f Filter) (list []Cron, err error) {
	owner, ok := own.Listed(p, f.Owner)
	if !ok {
		return nil, own.Foreign(ctx, t.Audit, p, "the crons of", f.Owner)
	}
	for c, err := range t.Store.Crons(ctx, owner) {
		if err != nil {
			return nil, err
		}
		if f.matches(&c) {
			c.Payload, c.Metadata = nil, nil
			list = append(list, c)
		}
	}
	return list, nil
}

func (f *Filter) matches(c *Cron) bool {
	return (f.Assistant == "" || c.Assistant == f.Assistant) && (f.Thread == "" || c.Thread == f.Thread) &&
		(f.Enabled == nil || c.Enabled == *f.Enabled) && within.JSON(c.Metadata, f.Metadata)
}

func (f *Filter) order(a, b Cron) int {
	var c int
	switch f.SortBy {
	case "assistant_id":
		c = cmp.Compare(a.Assistant, b.Assistant)
	case "thread_id":
		c = cmp.Compare(a.Thread, b.Thread)
	case "next_run_date":
		c = a.Next.Compare(b.Next)
	case "end_time":
		c = a.End.Compare(b.End)
	case "created_at":
		c = a.Created.Compare(b.Created)
	case "updated_at":
		c = a.Updated.Compare(b.Updated)
	}
	return page.Order(c, a.ID, b.ID, f.Ascending)
}
