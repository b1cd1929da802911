package api

import (
	"net/http"

	"github.com/svc-gateway/svc/agents/approval"
	"github.com/svc-gateway/svc/internal/health"
	"github.com/svc-gateway/svc/policy"
)

// route is one endpoint: how it is served and how it is described.
type route struct {
	method, path string
	open         bool          // needs no principal
	action       policy.Action // what the caller's role must have
	summary      string
	request      any   // pointer to the type of path, query and body; nil: none
	success      reply // what a good request gets
	faults       []int // statuses of problems, beside those of every route
	serve        func(h *Handler, w http.ResponseWriter, r *http.Request)
	refuse       func(h *Handler, w http.ResponseWriter, r *http.Request) // answers who has not the action; nil: like all others
}

type reply struct {
	status int
	media  string
	body   any
}

const (
	mediaJSON = "application/json"
	mediaSSE  = "text/event-stream"
)

var routes = []route{
	{
		method: http.MethodGet, path: "/health", open: true,
		summary: "Liveness probe for load balancers and monitors",
		success: reply{http.StatusOK, mediaJSON, new(Health)},
		serve:   (*Handler).health,
	},
	{
		method: http.MethodGet, path: "/health/details", action: policy.AdminAction,
		summary: "Version, node, and how each part of the service is",
		success: reply{http.StatusOK, mediaJSON, new(health.Details)},
		serve:   (*Handler).healthDetails,
	},
	{
		method: http.MethodPost, path: "/runs/stream", action: policy.Use,
		summary: "Run a query, stream the answer",
		request: new(RunRequest), success: reply{http.StatusOK, mediaSSE, new(StreamEvent)},
		faults: []int{400, 404, 409, 413, 415, 422, 429, 503},
		serve:  (*Handler).runStateless,
	},
	{
		method: http.MethodPost, path: "/threads", action: policy.Use,
		summary: "Create a conversation thread",
		request: new(ThreadRequest), success: reply{http.StatusOK, mediaJSON, new(ThreadCreated)},
		faults: []int{400, 413, 415, 422, 429, 503},
		serve:  (*Handler).createThread,
	},
	{
		method: http.MethodGet, path: "/threads/search", action: policy.Use,
		summary: "Search conversation threads, the newest first",
		request: new(SearchQuery), success: reply{http.StatusOK, mediaJSON, new([]ThreadView)},
		faults: []int{422, 503},
		serve:  (*Handler).searchThreads,
	},
	{
		method: http.MethodDelete, path: "/threads/{thread_id}", action: policy.Use,
		summary: "Delete a thread with its runs",
		request: new(ThreadPath), success: reply{status: http.StatusNoContent},
		faults: []int{404, 409, 422, 503},
		serve:  (*Handler).deleteThread,
	},
	{
		method: http.MethodPost, path: "/threads/{thread_id}/runs/stream", action: policy.Use,
		summary: "Send a message within an existing thread, stream the answer",
		request: new(ThreadRunRequest), success: reply{http.StatusOK, mediaSSE, new(StreamEvent)},
		faults: []int{400, 404, 409, 413, 415, 422, 429, 503},
		serve:  (*Handler).runInThread,
	},
	{
		method: http.MethodGet, path: "/threads/{thread_id}/runs/stream", action: policy.Use,
		summary: "Join the stream of the thread's latest run",
		request: new(JoinRequest), success: reply{http.StatusOK, mediaSSE, new(StreamEvent)},
		faults: []int{404, 422, 503},
		serve:  (*Handler).join,
	},
	{
		method: http.MethodPost, path: "/threads/{thread_id}/runs/{run_id}/cancel", action: policy.Use,
		summary: "Cancel a run that is under way",
		request: new(RunPath), success: reply{status: http.StatusAccepted},
		faults: []int{404, 409, 422, 503},
		serve:  (*Handler).cancel,
	},
	{
		method: http.MethodGet, path: "/approvals", action: policy.Use,
		summary: "List calls that wait for approval, or did, the newest first",
		request: new(ApprovalsQuery), success: reply{http.StatusOK, mediaJSON, new([]approval.View)},
		faults: []int{422, 503},
		serve:  (*Handler).listApprovals,
	},
	{
		method: http.MethodGet, path: "/approvals/{approval_id}", action: policy.Use,
		summary: "Look at a call that waits for approval, or did",
		request: new(ApprovalPath), success: reply{http.StatusOK, mediaJSON, new(approval.View)},
		faults: []int{404, 422, 503},
		serve:  (*Handler).readApproval,
	},
	{
		method: http.MethodPost, path: "/approvals/{approval_id}", action: policy.ApproveWrite,
		summary: "Approve, reject or edit a call that waits",
		request: new(DecisionRequest), success: reply{http.StatusOK, mediaJSON, new(approval.View)},
		faults: []int{400, 404, 409, 413, 415, 422, 503},
		serve:  (*Handler).decide,
		refuse: (*Handler).refuseDecision,
	},
	{
		method: http.MethodGet, path: "/openapi.json", action: policy.Use, summary: "This document",
		success: reply{http.StatusOK, mediaJSON, new(map[string]any)},
		serve:   (*Handler).serveDocument,
	},
	{
		method: http.MethodGet, path: "/docs", action: policy.Use, summary: "This document as a page to try things out",
		success: reply{http.StatusOK, "text/html", new(string)},
		serve:   (*Handler).servePage,
	},
}

// pageAssets serves what the page at /docs is made of.
var pageAssets = route{method: http.MethodGet, path: "/docs/", action: policy.Use, serve: (*Handler).servePage}

// Endpoints lists what the API serves and whom.
func Endpoints() []policy.Endpoint {
	list := make([]policy.Endpoint, len(routes))
	for i, rte := range routes {
		list[i] = policy.Endpoint{Method: rte.method, Path: rte.path, Action: rte.action, Open: rte.open, Summary: rte.summary}
	}
	return list
}
