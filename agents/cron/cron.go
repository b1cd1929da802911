package cron

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/svc-gateway/svc/policy"

	"github.com/svc-gateway/svc/agents"
)

// Bounds of what users make.
const (
	MaxCrons    = 100       // of a user
	MaxPayload  = 256 << 10 // bytes
	MaxMetadata = 16 << 10  // bytes as JSON
)

// Errors of this package. Those about what was sent are of the type [*agents.FieldError].
var (
	ErrNotFound = errors.New("cron not found")
	ErrFull     = fmt.Errorf("a user may have %d crons", MaxCrons)
	ErrConflict = errors.New("the cron was changed by somebody else")
)

// Cron is an order to start runs at the times of a schedule.
type Cron struct {
	ID        string           `json:"-"`
	Owner     string           `json:"-"`
	Principal policy.Principal `json:"principal"` // who made it, or changed it last: its runs act for that one
	Assistant string           `json:"assistant"` // id
	Thread    string           `json:"thread,omitempty"`
	Schedule  string           `json:"schedule"`           // five fields, or @hourly and its like
	Timezone  string           `json:"timezone,omitempty"` // of the schedule; empty: UTC
	End       time.Time        `json:"end,omitzero"`       // no run starts after it; zero: there is no end
	Enabled   bool             `json:"enabled"`
	Keep      bool             `json:"keep,omitempty"` // the thread of a run without one of its own stays when the run is over
	Payload   json.RawMessage  `json:"payload"`        // what a run is started with, in the form of a request to run
	Metadata  map[string]any   `json:"metadata,omitempty"`
	Created   time.Time        `json:"created"`
	Updated   time.Time        `json:"updated"`
	Next      time.Time        `json:"-"` // when it is due; zero: never
	Last      Outcome          `json:"last,omitzero"`
	Version   int64            `json:"-"` // number of times it was saved
}

// Status is what became of a time of the schedule.
type Status string

// What may become of one.
const (
	Starting Status = "starting" // the run is about to be started; if it stays so, the process died
	Started  Status = "started"
	Refused  Status = "refused" // the run may not be started; the cron is switched off
	Skipped  Status = "skipped" // there is no room for the run now; the next one may be started
	Failed   Status = "failed"  // something did not work; the next one may be started
)

// Outcome is what became of the last time that a cron was due.
type Outcome struct {
	Due    time.Time `json:"due"`
	Status Status    `json:"status"`
	Run    string    `json:"run,omitempty"`
	Thread string    `json:"thread,omitempty"`
	Code   string    `json:"code,omitempty"` // why there is no run: a stable word
}

// skew is how far apart the clocks of processes may be.
const skew = time.Hour

// schedule fills in when the cron is due after a time, or says what is wrong with its schedule. A time that it
// was due at does not come again, also where the clock is behind that of who started the run.
func (c *Cron) schedule(now time.Time) error {
	s, err := Parse(c.Schedule, c.Timezone)
	if err != nil {
		return err
	}
	if due := c.Last.Due; due.After(now) && due.Sub(now) < skew {
		now = due
	}
	c.Next = s.After(now)
	switch {
	case c.Next.IsZero():
		return &agents.FieldError{Field: "schedule", Message: "never comes: there is no such day"}
	case !c.Enabled, !c.End.IsZero() && c.Next.After(c.End):
		c.Next = time.Time{}
	}
	return nil
}
