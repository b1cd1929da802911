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
	by, ok := asker(w, r, isAdmin, "only an admin can undo what a run has written")
	if !ok {
		return
	}
	var done []undo.Restored
	o := change(r.Context(), u.log, by, audit.Event{Action: "undo", Input: text(in)}, func() (any, error) {
		var err error
		done, err = u.keeper.Restore(in.Run, in.Force)
		return done, err
	})
	if o.err != nil {
		u.logger.Error("undoing what a run has written failed", zap.String("run", in.Run), zap.Error(o.err))
	}
	changed, isChanged := errors.AsType[*undo.ChangedError](o.why)
	switch {
	case !o.began:
		unrecorded(w, r, "the change could not be recorded and was not made")
	case isChanged:
		problem.Write(w, r, problem.Problem{Status: http.StatusConflict, Code: "file_changed", Detail: changed.Error()})
	case errors.Is(o.why, undo.ErrNone):
		problem.Write(w, r, problem.Problem{Status: http.StatusNotFound, Code: "nothing_to_undo", Detail: o.why.Error()})
	case o.why != nil:
		problem.Write(w, r, problem.Problem{Status: http.StatusUnprocessableEntity, Code: "undo_failed", Detail: o.why.Error()})
	default:
		answer(w, done)
	}
}
