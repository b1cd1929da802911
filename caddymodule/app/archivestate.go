package app

import (
	"errors"
	"io/fs"
	"sync"
	"syscall"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/health"
)

// archiveState is how the archives are that the settings want. Its zero value is well.
type archiveState struct {
	mu     sync.Mutex
	since  time.Time // zero: since the start
	reason string
}

// tell takes the outcome of an attempt, and says in the log when it is another than before. An attempt
// that fails has removed nothing, and is made again.
func (s *archiveState) tell(err error, log *zap.Logger) {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.reason
	if s.reason = archiveReason(err); s.reason == was {
		return
	}
	s.since = time.Now()
	switch {
	case err == nil:
		log.Info("records of runs can be archived again")
	case errors.Is(err, audit.ErrChanged):
		log.Error("records of runs were changed: they stay in the log, the others are archived", zap.String("reason", s.reason), zap.Error(err))
	default:
		log.Error("records of runs cannot be archived: they stay in the log", zap.String("reason", s.reason), zap.Error(err))
	}
}

// archiveReason is a stable word for why an attempt failed; none if it did not.
func archiveReason(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, audit.ErrChanged):
		return "changed"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return "full"
	case errors.Is(err, syscall.EROFS):
		return "read_only"
	case errors.Is(err, fs.ErrPermission):
		return "permission"
	case errors.Is(err, fs.ErrExist):
		return "file_exists"
	case errors.Is(err, syscall.EIO):
		return "io_error"
	}
	return "unavailable"
}

func (s *archiveState) part(started time.Time) health.Part {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := health.Part{Status: health.OK, Kind: "files", Since: s.since.UTC(), Reason: s.reason}
	if s.since.IsZero() {
		p.Since = started.UTC()
	}
	if s.reason != "" {
		p.Status = health.Degraded
	}
	return p
}
