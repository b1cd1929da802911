// Package spec is the dialect of the specification: REST for threads, server-sent events for runs, and
// what belongs to no dialect, such as approvals and health.
package spec

import (
	"net/http"

	"github.com/svc-gateway/svc/agents/api/rest"
	"github.com/svc-gateway/svc/agents/approval"
	"github.com/svc-gateway/svc/internal/health"
	"github.com/svc-gateway/svc/policy"
)

// Service is what GET /health calls this API.
const Service = "svc-api"

// dialect serves the endpoints of this one.
type dialect struct{ *rest.Server }

// Routes are the endpoints of the dialect.
func Routes(s *rest.Server) []rest.Route {
	d := &dialect{s}
	return append([]rest.Route{
		{
			Method: http.MethodGet, Path: "/health", Open: true,
			Summary: "Liveness probe for load balancers and monitors",
			Success: rest.JSON(new(Health)),
			Serve:   d.health,
		},
		{
			Method: http.MethodGet, Path: "/health/details", Action: policy.AdminAction,
			Summary: "Version, node, and how each part of the service is",
			Success: rest.JSON(new(health.Details)),
			Serve:   d.healthDetails,
		},
		{
			Method: http.MethodPost, Path: "/runs/stream", Action: policy.Use,
			Summary: "Run a query, stream the answer",
			Request: new(RunRequest), Success: rest.Events(new(StreamEvent)),
			Faults: []int{400, 404, 409, 413, 415, 422, 429, 503},
			Serve:  d.runStateless,
		},
		{
			Method: http.MethodGet, Path: "/threads/search", Action: policy.Use,
			Summary: "Search conversation threads, the newest first",
			Request: new(SearchQuery), Success: rest.JSON(new([]ThreadView)),
			Faults: []int{422, 503},
			Serve:  d.searchThreads,
		},
		{
			Method: http.MethodDelete, Path: "/threads/{thread_id}", Action: policy.Use,
			Summary: "Delete a thread with its runs",
			Request: new(ThreadPath), Success: rest.Nothing(http.StatusNoContent),
			Faults: []int{404, 409, 422, 503},
			Serve:  d.deleteThread,
		},
		{
			Method: http.MethodPost, Path: "/threads/{thread_id}/runs/stream", Action: policy.Use,
			Summary: "Send a message within an existing thread, stream the answer",
			Request: new(ThreadRunRequest), Success: rest.Events(new(StreamEvent)),
			Faults: []int{400, 404, 409, 413, 415, 422, 429, 503},
			Serve:  d.runInThread,
		},
		{
			Method: http.MethodGet, Path: "/threads/{thread_id}/runs/stream", Action: policy.Use,
			Summary: "Join the stream of the thread's latest run",
			Request: new(JoinRequest), Success: rest.Events(new(StreamEvent)),
			Faults: []int{404, 422, 429, 503},
			Serve:  d.join,
		},
		{
			Method: http.MethodGet, Path: "/approvals", Action: policy.Use,
			Summary: "List calls that wait for approval, or did, the newest first",
			Request: new(ApprovalsQuery), Success: rest.JSON(new([]approval.View)),
			Faults: []int{422, 503},
			Serve:  d.listApprovals,
		},
		{
			Method: http.MethodGet, Path: "/approvals/{approval_id}", Action: policy.Use,
			Summary: "Look at a call that waits for approval, or did",
			Request: new(ApprovalPath), Success: rest.JSON(new(approval.View)),
			Faults: []int{404, 422, 503},
			Serve:  d.readApproval,
		},
		{
			Method: http.MethodPost, Path: "/approvals/{approval_id}", Action: policy.ApproveWrite,
			Summary: "Approve, reject or edit a call that waits",
			Request: new(DecisionRequest), Success: rest.JSON(new(approval.View)),
			Faults: []int{400, 404, 409, 413, 415, 422, 503},
			Serve:  d.decide,
			Refuse: d.refuseDecision,
		},
	}, d.memoryRoutes()...)
}
