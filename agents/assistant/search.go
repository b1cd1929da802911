package assistant

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/svc-gateway/svc/agents/own"
	"github.com/svc-gateway/svc/agents/page"
	"github.com/svc-gateway/svc/internal/within"
	"github.com/svc-gateway/svc/policy"
)

// Filter selects assistants. Empty fields select all.
type Filter struct {
	Owner     string         // whose; empty: one's own and the service's, all for an admin
	Graph     string         // the name of a graph
	Name      string         // a part of the name, whatever its case
	Metadata  map[string]any // which the assistant's contains, see [within.JSON]
	SortBy    string         // one of [SortFields]; empty: created_at
	Ascending bool
	Limit     int // how many at most; required
	Offset    int
}

// SortFields are what lists can be sorted by.
var SortFields = []string{"assistant_id", "graph_id", "name", "created_at", "updated_at"}

// head is what a list is made of before its page is known.
type head struct {
	id, graph, name  string
	created, updated time.Time
	whole            *Assistant // of the service's own
}

func headOf(a *Assistant) head { return head{a.ID, a.Graph, a.Name, a.Created, a.Updated, nil} }

// Search lists a page of assistants, the newest first unless the filter says otherwise, and the number of
// all that match.
func (c *Catalog) Search(ctx context.Context, p policy.Principal, f Filter) (list []Assistant, total int, err error) {
	if f.SortBy == "" {
		f.SortBy = "created_at"
	}
	if err := page.Check(f.Limit, f.Offset, f.SortBy, SortFields); err != nil {
		return nil, 0, err
	}
	heads, err := c.heads(ctx, p, f)
	if err != nil {
		return nil, 0, err
	}
	slices.SortFunc(heads, f.order)
	list, err = page.Read(heads, f.Offset, f.Limit, ErrNotFound, func(h head) (Assistant, error) {
		if h.whole != nil {
			return *h.whole, nil
		}
		return c.Store.Assistant(ctx, h.id)
	})
	return list, len(heads), err
}

// Count is the number of assistants that match.
func (c *Catalog) Count(ctx context.Context, p policy.Principal, f Filter) (int, error) {
	heads, err := c.heads(ctx, p, f)
	return len(heads), err
}

// heads are all assistants that match, in no order.
func (c *Catalog) heads(ctx context.Context, p policy.Principal, f Filter) (list []head, err error) {
	owner, ok := own.Listed(p, f.Owner)
	if !ok {
		return nil, own.Foreign(ctx, c.Audit, p, "the assistants of", f.Owner)
	}
	if f.Owner == "" {
		for _, a := range c.system() {
			if f.matches(&a) {
				h := headOf(&a)
				h.whole = &a
				list = append(list, h)
			}
		}
	}
	for a, err := range c.Store.Assistants(ctx, owner) {
		if err != nil {
			return nil, err
		}
		if f.matches(&a) {
			list = append(list, headOf(&a))
		}
	}
	return list, nil
}

func (f *Filter) matches(a *Assistant) bool {
	return (f.Graph == "" || a.Graph == f.Graph) && strings.Contains(strings.ToLower(a.Name), strings.ToLower(f.Name)) && within.JSON(a.Metadata, f.Metadata)
}

func (f *Filter) order(a, b head) int {
	var c int
	switch f.SortBy {
	case "graph_id":
		c = cmp.Compare(a.graph, b.graph)
	case "name":
		c = cmp.Compare(a.name, b.name)
	case "created_at":
		c = a.created.Compare(b.created)
	case "updated_at":
		c = a.updated.Compare(b.updated)
	}
	return page.Order(c, a.id, b.id, f.Ascending)
}
