package settings

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/svc-gateway/svc/internal/bytesize"
)

func parseNumber(s string, low, high int64) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a whole number", s)
	}
	if n < low || n > high {
		return 0, fmt.Errorf("%d is out of range: use %d to %d", n, low, high)
	}
	return n, nil
}

func parseDuration(s string, low, high time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(strings.TrimSpace(s))
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration: write a number with its unit, such as 500ms, 60s, 10m or 2h", s)
	}
	if d < low || d > high {
		return 0, fmt.Errorf("%s is out of range: use %s to %s", d, low, high)
	}
	return d, nil
}

func parseSize(s string, low, high int64) (int64, error) {
	n, err := bytesize.Parse(s)
	if err != nil {
		return 0, err
	}
	if n < low || n > high {
		return 0, fmt.Errorf("%s is out of range: use %d to %d bytes", s, low, high)
	}
	return n, nil
}

// split takes a list as it is written in a flag or an environment variable.
func split(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' })
}

// splitNames takes a list of names, which have commas and spaces in them.
func splitNames(s string) []string {
	var all []string
	for n := range strings.SplitSeq(s, ";") {
		if n = strings.TrimSpace(n); n != "" {
			all = append(all, n)
		}
	}
	return all
}

// brief writes a duration without the zeros at its end, as people do.
func brief(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
