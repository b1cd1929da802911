package disk

import (
	"errors"
	"path/filepath"
	"testing"
)

func TestLook(t *testing.T) {
	const gib = 1 << 30
	for _, tc := range []struct {
		name  string
		limit int64
		size  uint64
		free  []uint64
		low   []bool
	}{
		{"the default of a large disk", 0, 100 * gib, []uint64{gib, gib - 1, gib, gib + gib/10, gib}, []bool{false, true, true, false, false}},
		{"the default of a small disk", 0, 20 * 4096, []uint64{4096, 4095, 0}, []bool{false, true, true}},
		{"a limit", 1000, 100 * gib, []uint64{1000, 999, 1099, 1100, 999}, []bool{false, true, true, false, true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var free uint64
			w := newWatch(tc.limit, func() (Space, error) { return Space{Free: free, Size: tc.size}, nil })
			for i := range tc.free {
				free = tc.free[i]
				if s := w.Look(); s.Low != tc.low[i] || s.Free != free || s.Since.IsZero() {
					t.Errorf("%d free: got %+v, want low %v", free, s, tc.low[i])
				}
			}
		})
	}
}

func TestLookWithoutAnswer(t *testing.T) {
	broken := errors.New("broken")
	w := newWatch(0, func() (Space, error) { return Space{}, broken })
	if s := w.Look(); s.Low || !errors.Is(s.Err, broken) {
		t.Errorf("got %+v", s)
	}
	if s := NewWatch(filepath.Join(t.TempDir(), "missing"), 0).Look(); s.Low || s.Err == nil {
		t.Errorf("a folder that is not there: got %+v", s)
	}
	if s := NewWatch(t.TempDir(), 0).Look(); s.Err != nil || s.Size == 0 {
		t.Errorf("got %+v", s)
	}
}
