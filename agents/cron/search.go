package cron

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/assistant"
	"github.com/svc-gateway/svc/agents/own"
	"github.com/svc-gateway/svc/policy"
)

// Filter selects crons. Empty fields select all.
type Filter struct {
	Owner     string // whose; empty: one's own, everybody's for an admin
	Assistant string
	Thread    string
	Enabled   *bool
	Metadata  map[string]any // which the cron's contains, see [assistant.Contains]
	SortBy    string         // one of [SortFields]; empty: created_at
	Ascending bool
	Limit     int // how many at most; required
	Offset    int
}

// SortFields are what lists can be sorted by.
var SortFields = []string{"cron_id", "assistant_id", "thread_id", "next_run_date", "end_time", "created_at", "updated_at"}

// Search lists a page of crons, the newest first unless the filter says otherwise, and the number of all
// that match.
func (t *Table) Search(ctx context.Context, p policy.Principal, f Filter) (page []Cron, total int, err error) {
	if f.SortBy == "" {
		f.SortBy = "created_at"
	}
	switch {
	case f.Limit < 1 || f.Limit > MaxPage:
		return nil, 0, &agents.FieldError{Field: "limit", Message: fmt.Sprintf("must be from 1 to %d", MaxPage)}
	case f.Offset < 0 || f.Offset > MaxOffset:
		return nil, 0, &agents.FieldError{Field: "offset", Message: fmt.Sprintf("must be from 0 to %d", MaxOffset)}
	case !slices.Contains(SortFields, f.SortBy):
		return nil, 0, &agents.FieldError{Field: "sort_by", Message: "must be one of " + strings.Join(SortFields, ", ")}
	}
	all, err := t.matching(ctx, p, f)
	if err != nil {
		return nil, 0, err
	}
	slices.SortFunc(all, f.order)
	page = []Cron{}
	for _, c := range all[min(f.Offset, len(all)):] {
		if len(page) == f.Limit {
			break
		}
		switch whole, err := t.Store.Cron(ctx, c.ID); {
		case err == nil:
			page = append(page, whole)
		case !errors.Is(err, ErrNotFound): // else somebody has removed it meanwhile
			return nil, 0, err
		}
	}
	return page, len(all), nil
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
		(f.Enabled == nil || c.Enabled == *f.Enabled) && assistant.Contains(c.Metadata, f.Metadata)
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
	if c == 0 {
		c = cmp.Compare(a.ID, b.ID)
	}
	if f.Ascending {
		return c
	}
	return -c
}
