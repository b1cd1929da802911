// Package recorded reads decisions of the gate back from the audit log, so that another policy can be asked
// what it would have made of them.
//
//	d, ok := recorded.Decision(event)
//
// It is pure and safe for concurrent use.
package recorded

import (
	"encoding/json"

	"github.com/svc-gateway/svc/agents/arguments"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/replay"
	"github.com/svc-gateway/svc/scanner"
)

// Decision is the decision of the gate that an event tells of, for a replay. It reports false for an
// event that tells of none, or of one that nobody asked a policy about.
func Decision(e audit.Event) (replay.Decision, bool) {
	var s policy.Snapshot
	if len(e.PolicyInput) == 0 || json.Unmarshal(e.PolicyInput, &s) != nil {
		return replay.Decision{}, false
	}
	in := policy.Input{
		Principal: policy.Principal{User: e.User, Role: policy.Role(e.Role), OnBehalfOf: e.OnBehalfOf, Address: e.Address},
		Agent:     e.Agent, Tool: e.Tool, Action: policy.Action(e.Action), Labels: e.Labels,
	}
	d := replay.Decision{ID: e.Call, Time: e.Time, Was: policy.Verdict{Rule: s.Rule, Effect: s.Effect}}
	var lost [][]string
	if json.Unmarshal([]byte(e.Input), &in.Arguments) != nil && e.Input != "" {
		lost = append(lost, []string{"arguments"})
	}
	var findings []scanner.Finding
	if len(e.Findings) > 0 && json.Unmarshal(e.Findings, &findings) != nil {
		lost = append(lost, []string{"findings"})
	}
	in.Findings = findings
	d.Input, d.Hidden = s.Restore(in)
	if exact, err := arguments.Digest(e.Run, e.Agent, e.Tool, s.Revision, e.Input); (err != nil || exact != e.Digest) && len(d.Hidden) == 0 && e.Input != "" {
		lost = append(lost, []string{"arguments"}) // the record differs from what was decided on
	}
	d.Hidden = append(d.Hidden, lost...)
	return d, true
}
