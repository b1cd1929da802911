package cli

import (
	"errors"
	"strings"
	"time"
)

// ParseTime reads a point in time: a duration ago, a date or RFC 3339. Empty is none.
func ParseTime(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, s, now.Location()); err == nil {
		return t, nil
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		s = days + "h"
		if d, err := time.ParseDuration(s); err == nil && d >= 0 {
			return now.Add(-24 * d), nil
		}
	} else if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, errors.New("write 12h, 7d, 2026-01-31 or a time as in RFC 3339")
}
