package identity

import (
	"fmt"
	"strconv"
	"time"
)

// expiryForms ends every error of [ParseExpiry].
const expiryForms = `want a time from now such as 90d or 12h, a date such as 2027-01-31, or RFC 3339 such as 2027-01-31T18:00:00Z`

// maxYears is how far away an end may be; more is a typing error.
const maxYears = 100

// ParseExpiry reads when something ends: "90d" and "12h" count from now, "2027-01-31" is valid
// through that day in UTC, anything else is RFC 3339. A time that has passed or is more than
// 100 years away is an error. The result is in UTC.
func ParseExpiry(s string, now time.Time) (time.Time, error) {
	end, err := parseEnd(s, now)
	if err != nil {
		return time.Time{}, err
	}
	return checkEnd(s, end.UTC(), now)
}

func parseEnd(s string, now time.Time) (time.Time, error) {
	if n := len(s) - 1; n > 0 && digits(s[:n]) && (s[n] == 'd' || s[n] == 'h') {
		count, err := strconv.Atoi(s[:n])
		if err != nil || count > maxYears*366*24 {
			return time.Time{}, tooFar(s)
		}
		if s[n] == 'd' {
			return now.UTC().AddDate(0, 0, count), nil
		}
		return now.UTC().Add(time.Duration(count) * time.Hour), nil
	}
	if day, err := time.Parse(time.DateOnly, s); err == nil {
		return day.AddDate(0, 0, 1), nil
	}
	end, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}, fmt.Errorf("%w: expires: cannot read %q; %s", ErrInvalid, s, expiryForms)
	}
	return end, nil
}

// checkEnd refuses ends that are past or absurd.
func checkEnd(s string, end, now time.Time) (time.Time, error) {
	if !end.After(now) {
		return time.Time{}, fmt.Errorf("%w: expires: %s has passed already; %s", ErrInvalid, s, expiryForms)
	}
	if end.After(now.AddDate(maxYears, 0, 0)) {
		return time.Time{}, tooFar(s)
	}
	return end, nil
}

func tooFar(s string) error {
	return fmt.Errorf("%w: expires: %s is more than %d years away; %s", ErrInvalid, s, maxYears, expiryForms)
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
