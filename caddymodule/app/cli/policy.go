package cli

import "github.com/svc-gateway/svc/policy"

// Policy is what a running service decides with: GET /policy on the control socket.
type Policy struct {
	Hash  string            `json:"policy_hash"`
	Rules []policy.RuleInfo `json:"rules"`
}

// PolicyChange is the answer to POST /policy/apply.
type PolicyChange struct {
	Old   string            `json:"old"` // hash of the policy until then
	New   string            `json:"new"`
	Now   bool              `json:"now"` // runs that were under way have it too
	Rules []policy.RuleInfo `json:"rules"`
}
