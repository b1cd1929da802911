package cron

import (
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // for machines that have none

	expression "github.com/netresearch/go-cron"

	"github.com/svc-gateway/svc/agents"
)

// MinInterval is how far apart the times of a schedule are at least.
const MinInterval = time.Minute

// once is what somebody is told who wants a cron to be due more often.
const once = "a cron runs once a minute at most: give five fields (minute, hour, day, month, weekday), such as */5 * * * * for every five minutes"

// parser reads what crontab(5) describes. A time is due when its day of the month or its weekday fits, if
// both are restricted.
var parser = expression.MustNewParser(
	expression.Minute | expression.Hour | expression.Dom | expression.Month | expression.Dow | expression.Descriptor | expression.DowOrDom,
).WithMinEveryInterval(MinInterval)

// Schedule tells times.
type Schedule struct {
	times expression.Schedule
	zone  *time.Location
}

// Parse reads a schedule in a time zone of the IANA database; the empty one is UTC. The error is of the
// type [*agents.FieldError].
func Parse(text, zone string) (Schedule, error) {
	loc, err := location(zone)
	if err != nil {
		return Schedule{}, err
	}
	text = strings.TrimSpace(text)
	switch fields := strings.Fields(text); {
	case len(fields) == 0:
		return Schedule{}, &agents.FieldError{Field: "schedule", Message: "is missing; " + once}
	case strings.Contains(fields[0], "="):
		return Schedule{}, &agents.FieldError{Field: "schedule", Message: "must not name a time zone; that is what the field timezone is for"}
	case len(fields) == 6 || len(fields) == 7:
		return Schedule{}, &agents.FieldError{Field: "schedule", Message: fmt.Sprintf("has %d fields; ", len(fields)) + once}
	case fields[0] == "@every" && len(fields) == 2:
		if d, err := time.ParseDuration(fields[1]); err == nil && d < MinInterval {
			return Schedule{}, &agents.FieldError{Field: "schedule", Message: fmt.Sprintf("every %s is too often; ", d) + once}
		}
	}
	times, err := parser.Parse(text)
	if err != nil {
		return Schedule{}, &agents.FieldError{Field: "schedule", Message: "is no schedule that can be read; give five fields (minute, hour, day, month, weekday), such as 0 9 * * 1-5 for nine o'clock on working days"}
	}
	return Schedule{times, loc}, nil
}

func location(zone string) (*time.Location, error) {
	loc, err := time.LoadLocation(zone)
	if err != nil || zone == "Local" {
		return nil, &agents.FieldError{Field: "timezone", Message: "is not known; give a name of the IANA database, such as Europe/Berlin, or UTC"}
	}
	return loc, nil
}

// After is the first time of the schedule after another, zero when there is none within years.
func (s Schedule) After(t time.Time) time.Time {
	next := s.times.Next(t.In(s.zone))
	if next.IsZero() {
		return time.Time{}
	}
	return next.UTC()
}
