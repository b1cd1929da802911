// Package bytesize reads sizes as people write them in settings and Caddyfiles: a whole number of
// bytes, or one with a unit, such as 512KiB or 4MiB.
//
//	n, err := bytesize.Parse("4MiB") // 4194304
//
// The units are B, kB, KB, MB, GB, KiB, MiB and GiB; case counts. Nothing here has state, so any number
// of goroutines may call it.
package bytesize

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// units are tried in this order: B ends all others.
var units = []struct {
	suffix string
	bytes  int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}}

// Parse returns the number of bytes that s says. Space around the number is left out. What an int64
// cannot hold is the largest one.
func Parse(s string) (int64, error) {
	digits, factor := strings.TrimSpace(s), int64(1)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(digits, u.suffix); ok {
			digits, factor = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	n, err := strconv.ParseUint(digits, 10, 63) // no sign
	if errors.Is(err, strconv.ErrRange) || int64(n) > math.MaxInt64/factor {
		return math.MaxInt64, nil
	}
	if err != nil {
		return 0, fmt.Errorf("%q is not a size: write bytes, or a number with KiB, MiB or GiB", s)
	}
	return int64(n) * factor, nil
}
