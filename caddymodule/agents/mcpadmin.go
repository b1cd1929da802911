package agents

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/mcp"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/scanner/redact"
)

// MCPApproval is the body of POST /mcp-servers/{name}/approve on the control socket.
type MCPApproval struct {
	Digest string `json:"digest"` // of the list that was looked at
}

// mcpAdmin is what the command mcp asks on the control socket, which only admins reach.
type mcpAdmin struct {
	servers []borrowed
	log     *audit.Log
	logger  *zap.Logger
}

const notForMCP = "only an admin can see and approve tools of MCP servers"

func (t *toolbox) handleControl(a *app.App) {
	m := mcpAdmin{t.servers, a.Audit(), t.log}
	a.HandleControl("GET /mcp-servers", http.HandlerFunc(m.list))
	a.HandleControl("POST /mcp-servers/{name}/approve", http.HandlerFunc(m.approve))
}

func (m mcpAdmin) list(w http.ResponseWriter, r *http.Request) {
	if _, ok := asker(w, r, isAdmin, notForMCP); !ok {
		return
	}
	all := []mcp.Status{}
	for _, s := range m.servers {
		all = append(all, s.Status())
	}
	answer(w, all)
}

func (m mcpAdmin) approve(w http.ResponseWriter, r *http.Request) {
	by, ok := asker(w, r, isAdmin, notForMCP)
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
	e := audit.Event{Action: "mcp.approve", Input: text(map[string]string{"server": name, "digest": in.Digest})}
	o := change(r.Context(), m.log, by, e, func() (any, error) {
		approved, err := m.servers[i].Approve(by.User, in.Digest)
		if err != nil {
			return nil, err
		}
		return approved, nil
	})
	refused := errors.Is(o.why, mcp.ErrNotConnected) || errors.Is(o.why, mcp.ErrOtherList) || errors.Is(o.why, mcp.ErrNothing)
	if o.err != nil && !refused {
		m.logger.Error("approving the tools of an MCP server failed", zap.String("server", name), zap.String("by", by.User), zap.Error(o.err))
	}
	switch {
	case !o.began:
		unrecorded(w, r, "the approval could not be recorded and does not count")
	case refused:
		problem.Write(w, r, problem.Problem{Status: http.StatusConflict, Code: "mcp_not_approved", Detail: o.why.Error()})
	case o.why != nil:
		problem.Write(w, r, problem.Problem{Status: http.StatusInternalServerError, Code: "mcp_not_approved", Detail: "the approval could not be kept: " + redact.Text(o.why.Error())})
	default:
		answer(w, m.servers[i].Status())
	}
}
