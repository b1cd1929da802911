package app

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy"
)

// backup copies the audit log. That it leaves the machine's safe place is itself recorded.
func (s *shared) backup(ctx context.Context, by policy.Principal, path string) error {
	input, err := json.Marshal(map[string]string{"path": path})
	if err != nil {
		return err
	}
	e := audit.Event{
		Type: audit.Admin, User: by.User, Role: string(by.Role), Action: "audit.backup", Input: string(input), Status: "started",
	}
	if err := s.audit.Record(ctx, e); err != nil {
		return err
	}
	err = s.audit.Backup(ctx, path)
	e.Status = "success"
	if err != nil {
		e.Status, e.Error = "error", err.Error()
	}
	return errors.Join(err, s.audit.Queue(context.WithoutCancel(ctx), e))
}

// serveBackup is POST /audit/backup {path} on the control socket.
func (a *App) serveBackup(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Path string `json:"path"`
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<16)).Decode(&in); err != nil || !filepath.IsAbs(in.Path) {
		problem.Write(w, r, problem.Problem{Status: http.StatusBadRequest, Detail: "path: an absolute path is needed"})
		return
	}
	by, _ := policy.PrincipalFrom(r.Context())
	err := a.shared.backup(r.Context(), by, in.Path)
	switch {
	case err == nil:
		w.WriteHeader(http.StatusNoContent)
	case errors.Is(err, fs.ErrExist):
		problem.Write(w, r, problem.Problem{Status: http.StatusConflict, Code: "file_exists", Detail: in.Path + " already exists: name a new file"})
	default:
		a.logger.Error("backing up the audit log", zap.Error(err))
		// The client is an admin on this machine, who may know what the system says.
		problem.Write(w, r, problem.Problem{Status: http.StatusInternalServerError, Code: "backup_failed", Detail: err.Error()})
	}
}
