package app

import (
	"encoding/json"
	"io"
	"net/http"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy"
)

// DatabaseRecords is the path of the records of what people do with the analytical database.
const DatabaseRecords = "/database/records"

// The actions of people on the analytical database.
const (
	ActionImport  = "database.import"
	ActionQuery   = "database.query"
	ActionReceive = "database.receive" // log messages of a network
	ActionTrust   = "device.trust"     // the host key of a device that stands there
)

// DatabaseRecord is what a person does with the analytical database, without the service: a command says
// so before it begins, with the status started, and when it has ended, with success or error.
type DatabaseRecord struct {
	Action string          `json:"action"`
	Status string          `json:"status"`
	Input  json.RawMessage `json:"input"`
	Output json.RawMessage `json:"output,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// Event is the record as it stands in the audit log, without who.
func (r DatabaseRecord) Event() audit.Event {
	return audit.Event{Type: audit.Admin, Action: r.Action, Status: r.Status, Input: string(r.Input), Output: string(r.Output), Error: r.Error}
}

// valid keeps others than those records out of the log.
func (r DatabaseRecord) valid() bool {
	action := r.Action == ActionImport || r.Action == ActionQuery || r.Action == ActionReceive || r.Action == ActionTrust
	status := r.Status == "started" || r.Status == "success" || r.Status == "error"
	return action && status && len(r.Input) > 0
}

// maxRecord is how long a record may be, which has a statement in it.
const maxRecord = 2 << 20

// serveDatabaseRecord is POST /database/records on the control socket.
func (a *App) serveDatabaseRecord(w http.ResponseWriter, r *http.Request) {
	var in DatabaseRecord
	if err := json.NewDecoder(io.LimitReader(r.Body, maxRecord)).Decode(&in); err != nil || !in.valid() {
		problem.Write(w, r, problem.Problem{Status: http.StatusBadRequest, Detail: "want a JSON object with action (database.import, database.query, database.receive or device.trust), status (started, success or error) and input"})
		return
	}
	by, _ := policy.PrincipalFrom(r.Context())
	e := in.Event()
	e.User, e.Role, e.Address, e.RequestID = by.User, string(by.Role), by.Address, by.RequestID
	if err := a.Audit().Record(r.Context(), e); err != nil {
		a.logger.Error("recording what is done with the analytical database", zap.Error(err))
		problem.Write(w, r, problem.Problem{Status: http.StatusServiceUnavailable, Code: "audit_unavailable", Detail: "this could not be recorded"})
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
