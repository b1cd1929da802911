package state_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svc-gateway/svc/agents/approval"
	"github.com/svc-gateway/svc/agents/approval/approvaltest"
	"github.com/svc-gateway/svc/agents/state"
)

func TestApprovalsConformance(t *testing.T) {
	approvaltest.Conformance(t, func(t *testing.T) approvaltest.Store {
		s, err := state.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	})
}

// Lists that the service asks for again and again do not read the whole table.
func TestApprovalsAreFoundByIndex(t *testing.T) {
	explain := plans(t)
	for _, tc := range []struct {
		name   string
		filter approval.Filter
		index  string
	}{
		{"run", approval.Filter{Run: "r", Limit: 1}, "approvals_run"},
		{"owner", approval.Filter{Owner: "ada", Limit: 1}, "approvals_owner"},
		{"due", approval.Filter{State: []approval.State{approval.Pending}, Expired: time.Now(), Limit: 1}, "approvals_open"},
		{"unheard", approval.Filter{State: []approval.State{approval.Approved, approval.Rejected}, Limit: 1}, "approvals_open"},
	} {
		query, args := state.ApprovalsQuery(tc.filter)
		if plan := strings.Join(explain(query, args...), "; "); !strings.Contains(plan, tc.index) {
			t.Errorf("%s: the plan is %s, want %s in it", tc.name, plan, tc.index)
		}
	}
}
