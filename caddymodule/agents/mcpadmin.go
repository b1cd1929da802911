package agents

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"

	"github.com/svc-gateway/svc/agents/mcp"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy"
)

// MCPApproval is the body of POST /mcp-servers/{name}/approve on the control socket.
type MCPApproval struct {
	Digest string `json:"digest"` // of the list that was looked at
}

// mcpAdmin is what the command mcp asks on the control socket, which only admins reach.
type mcpAdmin struct {
	servers []borrowed
	log     *audit.Log
}

func (t *toolbox) handleControl(a *app.App) {
	m := mcpAdmin{t.servers, a.Audit()}
	a.HandleControl("GET /mcp-servers", http.HandlerFunc(m.list))
	a.HandleControl("POST /mcp-servers/{name}/approve", http.HandlerFunc(m.approve))
}

func (m mcpAdmin) list(w http.ResponseWriter, r *http.Request) {
	if _, ok := admin(w, r); !ok {
		return
	}
	all := []mcp.Status{}
	for _, s := range m.servers {
		all = append(all, s.Status())
	}
	answer(w, all)
}

func (m mcpAdmin) approve(w http.ResponseWriter, r *http.Request) {
	by, ok := admin(w, r)
	if !ok {
		return
	}
	var in MCPApproval
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<12)).Decode(&in); err != nil || in.Digest == "" {
		problem.Write(w, r, problem.Problem{Status: http.StatusBadRequest, Detail: "want a JSON object with digest: that of the list, as service mcp list prints it"})
		return
	}
	name := r.PathValue("name")
	i := slices.IndexFunc(m.servers, func(s borrowed) bool { return s.Name() == name })
	if i < 0 {
		problem.Write(w, r, problem.Problem{Status: http.StatusNotFound, Code: "not_found", Detail: "there is no MCP server " + name + " in the settings"})
		return
	}
	input, err := json.Marshal(map[string]string{"server": name, "digest": in.Digest})
	if err != nil {
		input = nil
	}
	e := audit.Event{
		Type: audit.Admin, User: by.User, Role: string(by.Role), Address: by.Address, RequestID: by.RequestID, Action: "mcp.approve", Input: string(input),
	}
	began := false
	var approveErr error
	err = m.log.Around(r.Context(), e, func(end *audit.Event) error {
		began = true
		var approved []mcp.Offer
		approved, approveErr = m.servers[i].Approve(by.User, in.Digest)
		if text, err := json.Marshal(approved); err == nil && approveErr == nil {
			end.Output = string(text)
		}
		return approveErr
	})
	switch {
	case !began:
		problem.Write(w, r, problem.Problem{Status: http.StatusServiceUnavailable, Code: "audit_unavailable", Detail: "the approval could not be recorded and does not count"})
	case errors.Is(approveErr, mcp.ErrNotConnected), errors.Is(approveErr, mcp.ErrOtherList), errors.Is(approveErr, mcp.ErrNothing):
		problem.Write(w, r, problem.Problem{Status: http.StatusConflict, Code: "mcp_not_approved", Detail: approveErr.Error()})
	case err != nil:
		problem.Write(w, r, problem.Problem{Status: http.StatusInternalServerError, Code: "mcp_not_approved", Detail: "the approval could not be kept: see the log"})
	default:
		answer(w, m.servers[i].Status())
	}
}

// admin is who asks; nobody else is answered.
func admin(w http.ResponseWriter, r *http.Request) (policy.Principal, bool) {
	by, ok := policy.PrincipalFrom(r.Context())
	if !ok || by.Role != policy.Admin {
		problem.Write(w, r, problem.Problem{Status: http.StatusForbidden, Detail: "only an admin can see and approve tools of MCP servers"})
		return by, false
	}
	return by, true
}
