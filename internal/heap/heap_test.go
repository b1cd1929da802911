package heap

import (
	"runtime"
	"testing"
)

func TestPercent(t *testing.T) {
	const mib = 1 << 20
	for _, tt := range []struct {
		name        string
		live, roots uint64
		want        int
	}{
		{"nothing collected yet", 0, mib, usual},
		{"little", 16 * mib, 0, 700},
		{"roots count twice", 8 * mib, 8 * mib, 750},
		{"half of the floor", Floor / 2, 0, usual},
		{"next to nothing", mib / 10, 0, most},
		{"many stacks", mib, 1000 * mib, usual},
		{"more than the floor", Floor + mib, mib, usual},
	} {
		if got := percent(tt.live, tt.roots); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestDecided(t *testing.T) {
	for _, tt := range []struct {
		percent, limit string
		want           bool
	}{
		{"", "", false},
		{"100", "", true},
		{"", "256MiB", true},
	} {
		t.Setenv("GOGC", tt.percent)
		t.Setenv("GOMEMLIMIT", tt.limit)
		if got := decided(); got != tt.want {
			t.Errorf("GOGC=%s GOMEMLIMIT=%s: got %t, want %t", tt.percent, tt.limit, got, tt.want)
		}
	}
}

// TestKeepFloor makes garbage and counts collections. By default they are about forty.
func TestKeepFloor(t *testing.T) {
	t.Setenv("GOGC", "")
	t.Setenv("GOMEMLIMIT", "")
	held := make([]byte, Floor/4)
	KeepFloor()
	collections(Floor) // until the percentage is set
	if by := collections(10 * Floor); by < 8 || by > 20 {
		t.Errorf("got %d collections, want about 13", by)
	}
	runtime.KeepAlive(held)
}

var sink []byte

// collections is how many there were while n bytes of garbage were made.
func collections(n int) uint32 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range n / 1024 {
		sink = make([]byte, 1024)
	}
	runtime.ReadMemStats(&after)
	return after.NumGC - before.NumGC
}
