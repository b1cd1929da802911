package langgraph

import (
	"net/http"
	"strconv"
)

// SearchPage are the members that searches have in common.
type SearchPage struct {
	Limit     *int     `json:"limit,omitempty" default:"10" nullable:"false" description:"from 1 to 1000"`
	Offset    int      `json:"offset,omitempty" default:"0"`
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
func writePage[T any](w http.ResponseWriter, page []T, total int, p *SearchPage) {
	w.Header().Set("X-Pagination-Total", strconv.Itoa(total))
	if next := p.Offset + len(page); next < total {
		w.Header().Set("X-Pagination-Next", strconv.Itoa(next))
	}
	writeSelected(w, page, p.Select)
}
