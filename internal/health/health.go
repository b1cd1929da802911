// Package health is how the parts of a service say whether they work: what GET /health/details
// answers, for admins.
//
//	d := health.New(version, node, uptime, map[string]health.Part{"bus": part})
//
// A part that does its work with less than it should have is degraded; one that does not work at all
// refuses requests by itself, which tells more than a word here. The values are plain data.
package health

import "time"

// The states of a part, and of the whole.
const (
	OK       = "ok"
	Degraded = "degraded"
)

// Details are the answer.
type Details struct {
	Status  string          `json:"status" required:"true" enum:"ok,degraded" description:"degraded when a part is"`
	Version string          `json:"version" required:"true"`
	Node    string          `json:"node" required:"true" description:"name of this process in records and leases"`
	Uptime  int64           `json:"uptime_seconds" required:"true"`
	Parts   map[string]Part `json:"parts" required:"true" nullable:"false"`
}

// Part is one of those that the service stands on.
type Part struct {
	Status string    `json:"status" required:"true" enum:"ok,degraded"`
	Kind   string    `json:"kind" required:"true" description:"bus: memory or redis; audit, users and state: sqlite; database: duckdb; disk: databases; archive: files; policy and skills: files; ldap; oidc; sandbox: daytona, runloop or modal; remote-…: agent server; mcp.…: mcp"`
	Since  time.Time `json:"since" required:"true" description:"when that became so"`
	Reason string    `json:"reason,omitempty" description:"why it is degraded: a stable word"`
	Free   uint64    `json:"free_bytes,omitempty" description:"disk: what is left"`

	Undeleted int `json:"undeleted,omitempty" description:"sandbox: remote sandboxes that could not be deleted yet"`
}

// NewPart returns a part that works since a time, or is degraded since then for a reason.
func NewPart(kind string, since time.Time, reason string) Part {
	p := Part{Status: OK, Kind: kind, Since: since.UTC(), Reason: reason}
	if reason != "" {
		p.Status = Degraded
	}
	return p
}

// New returns the details of a service with these parts.
func New(version, node string, uptime time.Duration, parts map[string]Part) Details {
	if parts == nil {
		parts = map[string]Part{}
	}
	d := Details{Status: OK, Version: version, Node: node, Uptime: int64(uptime / time.Second), Parts: parts}
	for _, p := range parts {
		if p.Status != OK {
			d.Status = Degraded
		}
	}
	return d
}
