package items

import (
	"context"
	"fmt"
	"slices"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/own"
	"github.com/svc-gateway/svc/policy"
)

// Any is the label of a pattern that stands for any one label.
const Any = "*"

// Pattern selects namespaces.
type Pattern struct {
	Owner  string   // whose; empty: one's own, everybody's for an admin
	Prefix []string // what they begin with; [Any] is any label
	Suffix []string // what they end with
	Depth  int      // longer ones are cut to so many labels; 0: none are
	Limit  int      // how many at most; required
	Offset int
}

func (q *Pattern) check() error {
	switch {
	case q.Limit < 1 || q.Limit > MaxLimit:
		return &agents.FieldError{Field: "limit", Message: fmt.Sprintf("must be from 1 to %d", MaxLimit)}
	case q.Offset < 0 || q.Offset > MaxOffset:
		return &agents.FieldError{Field: "offset", Message: fmt.Sprintf("must be from 0 to %d", MaxOffset)}
	case q.Depth < 0 || q.Depth > MaxDepth:
		return &agents.FieldError{Field: "max_depth", Message: fmt.Sprintf("must be from 1 to %d", MaxDepth)}
	}
	if err := checkLabels("prefix", q.Prefix); err != nil {
		return err
	}
	return checkLabels("suffix", q.Suffix)
}

// Namespaces lists a page of the namespaces that hold items, in order.
func (k *Keeper) Namespaces(ctx context.Context, p policy.Principal, q Pattern) ([][]string, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	owner, ok := own.Listed(p, q.Owner)
	if !ok {
		return nil, k.foreign(ctx, p, q.Owner)
	}
	literal := q.Prefix // the storage knows no patterns
	if i := slices.Index(literal, Any); i >= 0 {
		literal = literal[:i]
	}
	seen := map[string]bool{} // a namespace and what it is cut to need not stand side by side
	page := [][]string{}
	skip := q.Offset
	for ns, err := range k.Store.Namespaces(ctx, owner, literal, k.Now()) {
		if err != nil {
			return nil, err
		}
		if !q.matches(ns) {
			continue
		}
		if q.Depth > 0 {
			ns = ns[:min(q.Depth, len(ns))]
		}
		if path := Path(ns); seen[path] {
			continue
		} else if seen[path] = true; skip > 0 {
			skip--
			continue
		}
		if page = append(page, ns); len(page) == q.Limit {
			break
		}
	}
	return page, nil
}

func (q *Pattern) matches(ns []string) bool {
	n := len(ns) - len(q.Suffix)
	return len(ns) >= len(q.Prefix) && alike(ns[:len(q.Prefix)], q.Prefix) && n >= 0 && alike(ns[n:], q.Suffix)
}

func alike(labels, pattern []string) bool {
	return slices.EqualFunc(labels, pattern, func(l, p string) bool { return p == Any || l == p })
}
