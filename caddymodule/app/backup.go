package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy"
)

// backup copies the audit log to a new file. That it leaves the machine's safe place is itself
// recorded.
func (s *shared) backup(ctx context.Context, by policy.Principal, path string) error {
	return s.recorded(ctx, by, "audit.backup", path, func() error { return s.audit.Backup(ctx, path) })
}

// backupAll copies the databases of the data folder to a new folder. Each copy is consistent; the log
// comes last, so that it reaches as far as the others have seen it.
func (s *shared) backupAll(ctx context.Context, by policy.Principal, dir string) error {
	return s.recorded(ctx, by, "backup", dir, func() error {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return fmt.Errorf("making the folder of the backup: %w", err)
		}
		err := s.copyAll(ctx, dir)
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir)) // it is ours, and half a backup is none
		}
		return err
	})
}

func (s *shared) copyAll(ctx context.Context, dir string) error {
	for _, d := range databases {
		path := d.Path(s.home)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			continue // a program without what uses it
		}
		if err := d.Backup(ctx, path, filepath.Join(dir, filepath.Base(path))); err != nil {
			return err
		}
	}
	for _, copyTo := range copies {
		if err := copyTo(ctx, s.home, dir); err != nil {
			return err
		}
	}
	return s.audit.Backup(ctx, filepath.Join(dir, filepath.Base(s.home.AuditDB())))
}

// recorded records that a copy is made, before it is, and how that ended.
func (s *shared) recorded(ctx context.Context, by policy.Principal, action, path string, copyTo func() error) error {
	input, err := json.Marshal(map[string]string{"path": path})
	if err != nil {
		return err
	}
	e := audit.Event{Type: audit.Admin, User: by.User, Role: string(by.Role), Action: action, Input: string(input)}
	return s.audit.Around(ctx, e, func(*audit.Event) error { return copyTo() })
}

// serveBackup is POST /audit/backup {path}, or POST /backup {path}, on the control socket.
func (a *App) serveBackup(backup func(context.Context, policy.Principal, string) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Path string `json:"path"`
		}
		if err := json.NewDecoder(io.LimitReader(r.Body, 1<<16)).Decode(&in); err != nil || !filepath.IsAbs(in.Path) {
			problem.Write(w, r, problem.Problem{Status: http.StatusBadRequest, Detail: "path: an absolute path is needed"})
			return
		}
		by, _ := policy.PrincipalFrom(r.Context())
		err := backup(r.Context(), by, in.Path)
		switch {
		case err == nil:
			w.WriteHeader(http.StatusNoContent)
		case errors.Is(err, fs.ErrExist):
			problem.Write(w, r, problem.Problem{Status: http.StatusConflict, Code: "file_exists", Detail: in.Path + " already exists: name a new one"})
		default:
			a.logger.Error("making a backup", zap.Error(err))
			// The client is an admin on this machine, who may know what the system says.
			problem.Write(w, r, problem.Problem{Status: http.StatusInternalServerError, Code: "backup_failed", Detail: err.Error()})
		}
	}
}
