package identity

import (
	"errors"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestParseExpiry(t *testing.T) {
	for in, want := range map[string]string{
		"90d":                       "2027-02-19T12:00:00Z",
		"1d":                        "2026-11-22T12:00:00Z",
		"12h":                       "2026-11-22T00:00:00Z",
		"1h":                        "2026-11-21T13:00:00Z",
		"36524d":                    "2126-11-21T12:00:00Z", // 100 years
		"2027-01-31":                "2027-02-01T00:00:00Z", // through that day
		"2026-11-21":                "2026-11-22T00:00:00Z", // today
		"2027-01-31T18:00:00Z":      "2027-01-31T18:00:00Z",
		"2027-01-31T18:00:00+02:00": "2027-01-31T16:00:00Z",
		"2026-11-21T12:00:00.001Z":  "2026-11-21T12:00:00.001Z",
	} {
		got, err := ParseExpiry(in, noon)
		if err != nil || got.Format(time.RFC3339Nano) != want || got.Location() != time.UTC {
			t.Errorf("%s: got %s, %v; want %s", in, got.Format(time.RFC3339Nano), err, want)
		}
	}
	local := time.FixedZone("", -7*3600)
	if got, err := ParseExpiry("12h", noon.In(local)); err != nil || got.Location() != time.UTC {
		t.Errorf("another zone: got %s, %v", got, err)
	}
}

func TestParseExpiryRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"":                      "cannot read",
		"d":                     "cannot read",
		"90":                    "cannot read",
		"90 d":                  "cannot read",
		" 90d":                  "cannot read",
		"-1d":                   "cannot read",
		"+1d":                   "cannot read",
		"1.5d":                  "cannot read",
		"90D":                   "cannot read",
		"3m":                    "cannot read",
		"1d12h":                 "cannot read",
		"never":                 "cannot read",
		"tomorrow":              "cannot read",
		"2027-02-30":            "cannot read",
		"2027-1-31":             "cannot read",
		"31.01.2027":            "cannot read",
		"2027-01-31 18:00":      "cannot read",
		"2027-01-31T18:00:00":   "cannot read",
		"٣d":                    "cannot read",
		"0d":                    "passed",
		"0h":                    "passed",
		"2026-11-20":            "passed",
		"2026-11-21T12:00:00Z":  "passed",
		"0001-01-01T00:00:00Z":  "passed",
		"36525d":                "100 years",
		"876601h":               "100 years",
		"9999-12-31":            "100 years",
		"99999999999999999999d": "100 years",
		"9223372036854775807h":  "100 years",
	} {
		got, err := ParseExpiry(in, noon)
		if !errors.Is(err, ErrInvalid) || !got.IsZero() {
			t.Errorf("%q: got %s, %v; want ErrInvalid", in, got, err)
			continue
		}
		for _, part := range []string{want, "expires:", "90d", "12h", "2027-01-31", "RFC 3339"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q: got %q, want it to say %q", in, err, part)
			}
		}
	}
}

func FuzzParseExpiry(f *testing.F) {
	for _, s := range []string{"90d", "12h", "2027-01-31", "2027-01-31T18:00:00+02:00", "99999999999999999999d", "0d", ""} {
		f.Add(s, noon.Unix())
	}
	f.Fuzz(func(t *testing.T, s string, unix int64) {
		now := time.Unix(unix%(1<<36), 0)
		end, err := ParseExpiry(s, now)
		if err != nil {
			if !errors.Is(err, ErrInvalid) || !end.IsZero() {
				t.Fatalf("%q: got %s, %v", s, end, err)
			}
			return
		}
		if !end.After(now) || end.After(now.AddDate(maxYears, 0, 0)) || end.Location() != time.UTC {
			t.Fatalf("%q at %s: got %s", s, now, end)
		}
	})
}
