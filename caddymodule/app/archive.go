package app

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy"
)

// archive moves runs that ended before a time to archives because somebody says so, which is recorded.
func (s *shared) archive(ctx context.Context, by policy.Principal, before time.Time, each func(audit.Archived)) error {
	return s.recorded(ctx, by, "audit.archive", s.home.AuditArchive(), func() error {
		return s.audit.Archive(ctx, audit.Archiving{
			Folder: s.home.AuditArchive(), Before: before, Unfinished: unfinished(s.home), User: by.User, Role: string(by.Role),
			Each: func(done audit.Archived) error {
				each(done)
				return nil
			},
		})
	})
}

// unfinished asks the databases for runs that are not over.
func unfinished(home settings.Home) func(context.Context) ([]string, error) {
	return func(ctx context.Context) (all []string, err error) {
		for _, d := range databases {
			if d.Unfinished == nil {
				continue
			}
			runs, err := d.Unfinished(ctx, d.Path(home))
			if err != nil {
				return nil, err
			}
			all = append(all, runs...)
		}
		return all, nil
	}
}

// ArchiveAnswer is what POST /audit/archive on the control socket answers.
type ArchiveAnswer struct {
	Archives []audit.Archived `json:"archives"`
	Error    string           `json:"error,omitempty"` // why there are no more
}

// ErrNoAge means that nobody says how old the runs are that go to an archive.
var ErrNoAge = errors.New("--older-than is needed, because retention.tool_calls is not set: how long runs have been over that leave the log, such as 90d")

// ArchiveBefore is the time before which a configuration has runs archived.
func ArchiveBefore(s settings.Settings, now time.Time) (time.Time, error) {
	if s.Retention.ToolCalls == 0 {
		return time.Time{}, ErrNoAge
	}
	return now.Add(-s.Retention.ToolCalls), nil
}

// serveArchive is POST /audit/archive {before} on the control socket. Without before it is the setting.
func (a *App) serveArchive(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Before time.Time `json:"before,omitzero"`
	}
	err := json.NewDecoder(io.LimitReader(r.Body, 1<<16)).Decode(&in)
	if err == nil && in.Before.IsZero() {
		in.Before, err = ArchiveBefore(a.settings, time.Now())
	} else if err != nil {
		err = errors.New("before: a time as in RFC 3339 is needed")
	}
	if err != nil {
		problem.Write(w, r, problem.Problem{Status: http.StatusBadRequest, Detail: err.Error()})
		return
	}
	by, _ := policy.PrincipalFrom(r.Context())
	answer := ArchiveAnswer{Archives: []audit.Archived{}}
	err = a.shared.archive(r.Context(), by, in.Before, func(done audit.Archived) { answer.Archives = append(answer.Archives, done) })
	if err != nil {
		a.logger.Error("archiving records of runs", zap.Error(err))
		answer.Error = err.Error() // the client is an admin on this machine
	}
	a.answer(w, answer)
}

const (
	archiveEvery = time.Minute
	archiveRest  = time.Second // between two archives: who records something waits while records are removed
	archiveLeast = 100         // runs that are worth a file
)

// archives reports whether runs leave the log by themselves.
func (a *App) archives() bool {
	return a.settings.Retention.ToolCalls > 0 || a.settings.Retention.ToolCallsSize > 0
}

// watchRuns moves runs that have been over for longer than the settings want to archives, until stop
// is called. The data folder is this process's own, and so is the log.
func (a *App) watchRuns() (stop func()) {
	if !a.archives() {
		return func() {}
	}
	ctx, cancel := context.WithCancel(a.ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		again := time.NewTicker(archiveEvery)
		defer again.Stop()
		for ctx.Err() == nil {
			err := archiveOld(ctx, a.Audit(), a.home, a.settings.Retention, a.logger)
			if ctx.Err() == nil {
				a.archive.tell(err, a.logger)
			}
			select {
			case <-again.C:
			case <-ctx.Done():
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

func archiveOld(ctx context.Context, l *audit.Log, home settings.Home, keep settings.Retention, log *zap.Logger) error {
	var before time.Time // none is older
	if keep.ToolCalls > 0 {
		before = time.Now().Add(-keep.ToolCalls)
	}
	return l.Archive(ctx, audit.Archiving{
		Folder: home.AuditArchive(), Before: before, Size: keep.ToolCallsSize, Least: archiveLeast, Unfinished: unfinished(home),
		Each: func(done audit.Archived) error {
			log.Info("moved records of runs to an archive", zap.String("file", done.File), zap.Int("runs", done.Runs),
				zap.Int("records", done.Events+done.Turns), zap.Int64("bytes", done.Bytes))
			rest := time.NewTimer(archiveRest)
			defer rest.Stop()
			select {
			case <-rest.C:
			case <-ctx.Done():
			}
			return nil
		},
	})
}
