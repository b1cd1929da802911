package cli_test

import (
	"testing"
	"time"

	"github.com/svc-gateway/svc/caddymodule/app/cli"
)

func TestParseTime(t *testing.T) {
	now := time.Date(2026, 5, 10, 12, 0, 0, 0, time.UTC)
	for in, want := range map[string]time.Time{
		"":                     {},
		"12h":                  now.Add(-12 * time.Hour),
		"90m":                  now.Add(-90 * time.Minute),
		"7d":                   now.Add(-7 * 24 * time.Hour),
		"2026-01-31":           time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC),
		"2026-01-31T10:00:00Z": time.Date(2026, 1, 31, 10, 0, 0, 0, time.UTC),
	} {
		got, err := cli.ParseTime(in, now)
		if err != nil || !got.Equal(want) {
			t.Errorf("ParseTime(%q): got %v, %v, want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"yesterday", "-3h", "-1d", "7", "d", "2026-13-01"} {
		if got, err := cli.ParseTime(in, now); err == nil {
			t.Errorf("ParseTime(%q): got %v, want an error", in, got)
		}
	}
}
