package items

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/own"
	"github.com/svc-gateway/svc/policy"
)

// Bounds of a search.
const (
	MaxLimit  = 1000
	MaxOffset = 1 << 20
	maxText   = 2048 // bytes of a text query
	maxWords  = 32   // of it
)

// Query selects items.
type Query struct {
	Owner  string         // whose; empty: one's own, everybody's for an admin
	Prefix []string       // what namespaces begin with; empty: all
	Filter map[string]any // see [CheckFilter]; nil: all
	Text   string         // items with one of its words, those with the most first; empty: all
	Limit  int            // how many at most; required
	Offset int
	Renew  bool // the items that are found begin their time anew
}

// Found is an item with how well it fits a text.
type Found struct {
	Item
	Score float64 // the part of the text's words that it has; 0 without a text
}

func (q *Query) check() error {
	switch {
	case q.Limit < 1 || q.Limit > MaxLimit:
		return &agents.FieldError{Field: "limit", Message: fmt.Sprintf("must be from 1 to %d", MaxLimit)}
	case q.Offset < 0 || q.Offset > MaxOffset:
		return &agents.FieldError{Field: "offset", Message: fmt.Sprintf("must be from 0 to %d", MaxOffset)}
	case len(q.Text) > maxText:
		return &agents.FieldError{Field: "query", Message: fmt.Sprintf("must not be longer than %d bytes", maxText)}
	}
	if err := checkLabels("namespace_prefix", q.Prefix); err != nil {
		return err
	}
	return CheckFilter(q.Filter)
}

// Search finds a page of items, the ones written last first. With a text, those with the most of its
// words come first: a word is found in any text of a value, whatever its case.
func (k *Keeper) Search(ctx context.Context, p policy.Principal, q Query) ([]Found, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	owner, ok := own.Listed(p, q.Owner)
	if !ok {
		return nil, k.foreign(ctx, p, q.Owner)
	}
	found, err := k.find(ctx, owner, q)
	if err == nil && q.Renew {
		err = k.renew(ctx, found)
	}
	return found, err
}

// match is where an item is in the order of a text search.
type match struct {
	ref   Ref
	score float64
}

func (k *Keeper) find(ctx context.Context, owner string, q Query) ([]Found, error) {
	wanted := words(q.Text)
	if len(wanted) > maxWords {
		return nil, &agents.FieldError{Field: "query", Message: fmt.Sprintf("must not have more than %d words", maxWords)}
	}
	var (
		page    []Found
		matches []match
		skip    = q.Offset
	)
	for i, err := range k.Store.Items(ctx, owner, q.Prefix, k.Now()) {
		if err != nil {
			return nil, err
		}
		score, ok, err := q.fits(&i, wanted)
		switch {
		case err != nil:
			return nil, err
		case !ok:
			continue
		case len(wanted) > 0: // the best may come last, so their values are read afterwards
			matches = append(matches, match{Ref{i.Owner, i.Namespace, i.Key}, score})
			continue
		case skip > 0:
			skip--
			continue
		}
		if page = append(page, Found{Item: i}); len(page) == q.Limit {
			break
		}
	}
	if len(wanted) == 0 {
		return page, nil
	}
	return k.best(ctx, matches, q)
}

// best reads the page of the matches that a query is about.
func (k *Keeper) best(ctx context.Context, matches []match, q Query) (page []Found, err error) {
	slices.SortStableFunc(matches, func(a, b match) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	matches = matches[min(q.Offset, len(matches)):]
	for _, m := range matches[:min(q.Limit, len(matches))] {
		i, err := k.Store.Item(ctx, m.ref, k.Now())
		switch {
		case err == nil:
			page = append(page, Found{i, m.score})
		case !isNotFound(err): // else somebody has removed it meanwhile
			return nil, err
		}
	}
	return page, nil
}

// fits reports whether an item is one that a query asks for, and how many of the words it has.
func (q *Query) fits(i *Item, wanted []string) (score float64, ok bool, err error) {
	if len(wanted) == 0 && len(q.Filter) == 0 {
		return 0, true, nil
	}
	var value map[string]any
	if err := json.Unmarshal(i.Value, &value); err != nil {
		return 0, false, fmt.Errorf("decoding the item %s %s: %w", Path(i.Namespace), i.Key, err)
	}
	if !Matches(value, q.Filter) {
		return 0, false, nil
	}
	if len(wanted) == 0 {
		return 0, true, nil
	}
	score = share(value, wanted)
	return score, score > 0, nil
}

// words are the different words of a text, in small letters.
func words(text string) []string {
	list := strings.Fields(strings.ToLower(text))
	slices.Sort(list)
	return slices.Compact(list)
}

// share is the part of the words that some text within a value has.
func share(value any, wanted []string) float64 {
	var b strings.Builder
	texts(&b, value)
	all := strings.ToLower(b.String())
	n := 0
	for _, w := range wanted {
		if strings.Contains(all, w) {
			n++
		}
	}
	return float64(n) / float64(len(wanted))
}

// texts writes all texts within a value, a line each, so that no word is found across two.
func texts(b *strings.Builder, value any) {
	switch v := value.(type) {
	case string:
		b.WriteString(v)
		b.WriteByte('\n')
	case []any:
		for _, e := range v {
			texts(b, e)
		}
	case map[string]any:
		for _, e := range v {
			texts(b, e)
		}
	}
}
