package langgraph

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/svc-gateway/svc/agents/api/rest"
)

// SearchPage are the members that searches have in common.
type SearchPage struct {
	Limit     *int     `json:"limit,omitempty" default:"10" minimum:"1" maximum:"1000" nullable:"false"`
	Offset    int      `json:"offset,omitempty" default:"0" minimum:"0" maximum:"1000000"`
	SortBy    string   `json:"sort_by,omitempty"`
	SortOrder string   `json:"sort_order,omitempty" enum:"asc,desc" default:"desc"`
	Select    []string `json:"select,omitempty" nullable:"false" description:"members that are shown; default: all"`
	UserID    string   `json:"user_id,omitempty" description:"only what is this user's"`
}

const defaultPage = 10

// limit is how many a page has at most.
func (p *SearchPage) limit() int {
	if p.Limit == nil {
		return defaultPage
	}
	return *p.Limit
}

// writePage answers with a page, with the members that are asked for, and says how many there are and
// where the next page begins.
func writePage[T any](d *dialect, w http.ResponseWriter, r *http.Request, page []T, total int, p *SearchPage) {
	shown := make([]any, len(page))
	for i, v := range page {
		var err error
		if shown[i], err = selected(v, p.Select); err != nil {
			d.Fail(w, r, err)
			return
		}
	}
	w.Header().Set("X-Pagination-Total", strconv.Itoa(total))
	if next := p.Offset + len(page); next < total {
		w.Header().Set("X-Pagination-Next", strconv.Itoa(next))
	}
	rest.WriteJSON(w, shown)
}

// selected is a value with the members that are named; all, when none are.
func selected(v any, names []string) (any, error) {
	if len(names) == 0 {
		return v, nil
	}
	doc, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encoding %T: %w", v, err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(doc, &members); err != nil {
		return nil, fmt.Errorf("decoding %T: %w", v, err)
	}
	for name := range members {
		if !slices.Contains(names, name) {
			delete(members, name)
		}
	}
	return members, nil
}
