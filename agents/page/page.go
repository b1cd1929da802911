// Package page cuts pages out of sorted lists of which only the heads are held.
//
//	if err := page.Check(f.Limit, f.Offset, f.SortBy, SortFields); err != nil { … }
//	list, err := page.Read(heads, f.Offset, f.Limit, ErrNotFound, whole)
//
// Nothing here has state; all of it is safe for concurrent use.
package page

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/agents"
)

// The bounds of a page.
const (
	MaxLimit  = 1000
	MaxOffset = 1_000_000
)

// Bounds says what is wrong with a limit or an offset; the error is a [agents.FieldError].
func Bounds(limit, offset int) error {
	switch {
	case limit < 1 || limit > MaxLimit:
		return &agents.FieldError{Field: "limit", Message: fmt.Sprintf("must be from 1 to %d", MaxLimit)}
	case offset < 0 || offset > MaxOffset:
		return &agents.FieldError{Field: "offset", Message: fmt.Sprintf("must be from 0 to %d", MaxOffset)}
	}
	return nil
}

// Check is Bounds for a list that is sorted by one of some fields.
func Check(limit, offset int, sortBy string, fields []string) error {
	if err := Bounds(limit, offset); err != nil {
		return err
	}
	if !slices.Contains(fields, sortBy) {
		return &agents.FieldError{Field: "sort_by", Message: "must be one of " + strings.Join(fields, ", ")}
	}
	return nil
}

// Order is how two things compare in a list: by c, and by their ids where that does not tell.
func Order(c int, a, b string, ascending bool) int {
	if c == 0 {
		c = cmp.Compare(a, b)
	}
	if ascending {
		return c
	}
	return -c
}

// Read reads the things on a page. Those that have gone meanwhile, with the error gone, are left out, and the
// next ones take their places.
func Read[H, T any](heads []H, offset, limit int, gone error, read func(H) (T, error)) ([]T, error) {
	list := []T{}
	for _, h := range heads[min(offset, len(heads)):] {
		if len(list) == limit {
			break
		}
		switch whole, err := read(h); {
		case err == nil:
			list = append(list, whole)
		case !errors.Is(err, gone):
			return nil, err
		}
	}
	return list, nil
}
