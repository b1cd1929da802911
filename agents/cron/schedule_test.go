package cron_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/cron"
)

func TestSchedule(t *testing.T) {
	from := time.Date(2026, 3, 27, 12, 0, 30, 0, time.UTC) // a Friday; Berlin changes to summer time on the 29th
	for _, tc := range []struct{ schedule, zone, want string }{
		{"* * * * *", "", "2026-03-27 12:01"},
		{"*/5 * * * *", "UTC", "2026-03-27 12:05"},
		{"0 9 * * 1-5", "", "2026-03-30 09:00"},
		{"0 9 * * MON", "Europe/Berlin", "2026-03-30 07:00"},
		{"0 9 28 3 *", "Europe/Berlin", "2026-03-28 08:00"},
		{"0 0 31 * 7", "", "2026-03-29 00:00"}, // the day of the month or the weekday
		{"0 0 29 2 *", "", "2028-02-29 00:00"},
		{"@daily", "America/New_York", "2026-03-28 04:00"},
		{"@hourly", "Asia/Kolkata", "2026-03-27 12:30"},
		{"@every 90s", "", "2026-03-27 12:02"},
		{" 0  0 * * * ", "", "2026-03-28 00:00"},
	} {
		s, err := cron.Parse(tc.schedule, tc.zone)
		if err != nil {
			t.Errorf("%s %s: %v", tc.schedule, tc.zone, err)
			continue
		}
		if got := s.After(from).Format("2006-01-02 15:04"); got != tc.want {
			t.Errorf("%s %s: got %s, want %s", tc.schedule, tc.zone, got, tc.want)
		}
	}
}

func TestBadSchedules(t *testing.T) {
	for _, tc := range []struct{ schedule, zone, field, says string }{
		{"", "", "schedule", "five fields"},
		{"* * * * * *", "", "schedule", "once a minute"},
		{"0 * * * * * 2030", "", "schedule", "once a minute"},
		{"@every 1s", "", "schedule", "once a minute"},
		{"@every 59s", "", "schedule", "too often"},
		{"@every 0", "", "schedule", "too often"},
		{"@every -1h", "", "schedule", "too often"},
		{"@every", "", "schedule", "five fields"},
		{"@reboot", "", "schedule", "five fields"},
		{"every minute", "", "schedule", "five fields"},
		{"60 * * * *", "", "schedule", "five fields"},
		{"*/0 * * * *", "", "schedule", "five fields"},
		{"H * * * *", "", "schedule", "five fields"},
		{"TZ=UTC * * * * *", "", "schedule", "timezone"},
		{"CRON_TZ=UTC * * * *", "", "schedule", "timezone"},
		{strings.Repeat("1,", 2000) + "1 * * * *", "", "schedule", "five fields"},
		{"* * * * *", "Mars/Base", "timezone", "Europe/Berlin"},
		{"* * * * *", "Local", "timezone", "Europe/Berlin"},
		{"* * * * *", "../../etc/passwd", "timezone", "Europe/Berlin"},
		{"* * * * *", "/etc/localtime", "timezone", "Europe/Berlin"},
	} {
		_, err := cron.Parse(tc.schedule, tc.zone)
		fault, ok := errors.AsType[*agents.FieldError](err)
		if !ok || fault.Field != tc.field || !strings.Contains(fault.Message, tc.says) {
			t.Errorf("%.30q %s: got %v, want an error about %s with %q", tc.schedule, tc.zone, err, tc.field, tc.says)
		}
	}
}

// No schedule is due more often than once a minute, nor in the past.
func FuzzSchedule(f *testing.F) {
	for _, text := range []string{"* * * * *", "*/7 1-3,5 L * MON#2", "@every 1m", "@every 1h0.5s", "0 0 30 2 *", "TZ=UTC 0 0 * * *", "59 23 31 12 7", "? ? ? ? ?"} {
		f.Add(text, "Europe/Berlin", int64(1_790_000_000))
	}
	f.Fuzz(func(t *testing.T, text, zone string, at int64) {
		s, err := cron.Parse(text, zone)
		if err != nil {
			if _, ok := errors.AsType[*agents.FieldError](err); !ok {
				t.Fatalf("%v names no field", err)
			}
			return
		}
		last := time.Unix(at%(1<<35), 0)
		for n := range 5 {
			next := s.After(last)
			if next.IsZero() {
				return
			}
			if !next.After(last) || n > 0 && next.Sub(last) < cron.MinInterval {
				t.Fatalf("%q in %q: %s follows %s", text, zone, next, last)
			}
			last = next
		}
	})
}
