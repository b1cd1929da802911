package agents

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/undo"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy"
)

// undoing is POST /undo {run, force} on the control socket, which only admins reach: files may lie
// outside of the project root. It is recorded before and after.
type undoing struct {
	keeper *undo.Keeper
	log    *audit.Log
	logger *zap.Logger
}

// UndoRequest is the body.
type UndoRequest struct {
	Run   string `json:"run"`
	Force bool   `json:"force"`
}

func (u undoing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in UndoRequest
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<16)).Decode(&in); err != nil || in.Run == "" {
		problem.Write(w, r, problem.Problem{Status: http.StatusBadRequest, Detail: "want a JSON object with run: the id of a run"})
		return
	}
	by, ok := policy.PrincipalFrom(r.Context())
	if !ok || by.Role != policy.Admin {
		problem.Write(w, r, problem.Problem{Status: http.StatusForbidden, Detail: "only an admin can undo what a run has written"})
		return
	}
	input, err := json.Marshal(in)
	if err != nil {
		input = nil
	}
	e := audit.Event{
		Type: audit.Admin, User: by.User, Role: string(by.Role), Address: by.Address, RequestID: by.RequestID,
		Action: "undo", Input: string(input),
	}
	var done []undo.Restored
	var undoErr error
	began := false
	err = u.log.Around(r.Context(), e, func(end *audit.Event) error {
		began = true
		done, undoErr = u.keeper.Restore(in.Run, in.Force)
		if text, err := json.Marshal(done); err == nil {
			end.Output = string(text)
		}
		return undoErr
	})
	if err != nil {
		u.logger.Error("undoing what a run has written failed", zap.String("run", in.Run), zap.Error(err))
	}
	if !began {
		problem.Write(w, r, problem.Problem{Status: http.StatusServiceUnavailable, Code: "audit_unavailable", Detail: "the change could not be recorded and was not made"})
		return
	}
	u.answer(w, r, done, undoErr)
}

func (u undoing) answer(w http.ResponseWriter, r *http.Request, done []undo.Restored, err error) {
	changed, isChanged := errors.AsType[*undo.ChangedError](err)
	switch {
	case isChanged:
		problem.Write(w, r, problem.Problem{Status: http.StatusConflict, Code: "file_changed", Detail: changed.Error()})
	case errors.Is(err, undo.ErrNone):
		problem.Write(w, r, problem.Problem{Status: http.StatusNotFound, Code: "nothing_to_undo", Detail: err.Error()})
	case err != nil:
		problem.Write(w, r, problem.Problem{Status: http.StatusUnprocessableEntity, Code: "undo_failed", Detail: err.Error()})
	default:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(done) // a client that has gone needs no answer
	}
}
