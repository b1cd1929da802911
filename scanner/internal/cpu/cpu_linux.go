package cpu

import (
	"time"

	"golang.org/x/sys/unix"
)

// Time returns the processor time that this thread has taken.
func Time() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}
