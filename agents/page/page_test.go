package page_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/page"
)

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		limit, offset int
		sort, field   string
	}{
		{1, 0, "name", ""},
		{page.MaxLimit, page.MaxOffset, "name", ""},
		{0, 0, "name", "limit"},
		{page.MaxLimit + 1, 0, "name", "limit"},
		{1, -1, "name", "offset"},
		{1, page.MaxOffset + 1, "name", "offset"},
		{1, 0, "", "sort_by"},
	} {
		var wrong *agents.FieldError
		field := ""
		if errors.As(page.Check(tt.limit, tt.offset, tt.sort, []string{"name"}), &wrong) {
			field = wrong.Field
		}
		if field != tt.field {
			t.Errorf("%+v: got %q", tt, field)
		}
	}
}

func TestRead(t *testing.T) {
	gone, broken := errors.New("gone"), errors.New("broken")
	read := func(n int) (int, error) {
		switch n {
		case 2:
			return 0, gone
		case 9:
			return 0, broken
		}
		return 10 * n, nil
	}
	if got, err := page.Read([]int{1, 2, 3, 4, 9}, 1, 2, gone, read); err != nil || !slices.Equal(got, []int{30, 40}) {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := page.Read([]int{1}, 5, 2, gone, read); err != nil || got == nil || len(got) > 0 {
		t.Errorf("beyond the end: got %v, %v", got, err)
	}
	if _, err := page.Read([]int{9}, 0, 2, gone, read); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}
