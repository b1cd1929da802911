package identity

import (
	"time"

	"github.com/svc-gateway/svc/policy"
)

// Report tells an admin how somebody of another source was judged, step by step.
type Report struct {
	Steps  []Step      `json:"steps"`
	User   string      `json:"user,omitempty"` // the name here
	Role   policy.Role `json:"role,omitempty"`
	Groups []string    `json:"groups,omitempty"`
	Error  string      `json:"error,omitempty"` // why they would not be let in
}

// Step is one step, in the order they were taken. It holds no credential.
type Step struct {
	Name     string  `json:"name"`
	Detail   string  `json:"detail,omitempty"` // what was found
	Error    string  `json:"error,omitempty"`  // what is wrong
	Duration float64 `json:"duration_ms"`
}

// Add adds a step that took that long.
func (r *Report) Add(name, detail string, err error, took time.Duration) {
	s := Step{Name: name, Detail: detail, Duration: float64(took.Microseconds()) / 1000}
	if err != nil {
		s.Error = err.Error()
	}
	r.Steps = append(r.Steps, s)
}
