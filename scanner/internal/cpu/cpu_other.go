//go:build !linux

package cpu

import "time"

var start = time.Now()

// Time returns the time that has passed.
func Time() time.Duration { return time.Since(start) }
