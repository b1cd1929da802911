package app

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy/identity"
)

// ManageFiles runs f with the management of the users of a data folder that no service works on, in
// the name of the process's own user. The error is f's, or [ErrInUse] when another process works on
// the folder.
func ManageFiles(home settings.Home, f func(identity.Admin) error) error {
	return alone(home, func(s *shared) error {
		return f(s.identity.As(identity.OSPrincipal(os.Geteuid())))
	})
}

// BackupFiles copies the audit log of such a folder to a new file. The error is [ErrInUse] when
// another process works on the folder.
func BackupFiles(ctx context.Context, home settings.Home, path string) error {
	return alone(home, func(s *shared) error {
		return s.backup(ctx, identity.OSPrincipal(os.Geteuid()), path)
	})
}

// BackupAll copies the databases of such a folder to a new folder, as [BackupFiles] does the log.
func BackupAll(ctx context.Context, home settings.Home, dir string) error {
	return alone(home, func(s *shared) error {
		return s.backupAll(ctx, identity.OSPrincipal(os.Geteuid()), dir)
	})
}

// ArchiveFiles moves runs that ended before a time from the audit log of such a folder to archives, and
// calls each after each of them.
func ArchiveFiles(ctx context.Context, home settings.Home, before time.Time, each func(audit.Archived)) error {
	return alone(home, func(s *shared) error {
		return s.archive(ctx, identity.OSPrincipal(os.Geteuid()), before, each)
	})
}

// RecordFiles records an event in the audit log of such a folder, durably and in the name of the process's
// own user.
func RecordFiles(ctx context.Context, home settings.Home, e audit.Event) error {
	return alone(home, func(s *shared) error {
		by := identity.OSPrincipal(os.Geteuid())
		e.User, e.Role = by.User, string(by.Role)
		return s.audit.Record(ctx, e)
	})
}

// ChangeFiles makes a change in such a folder in the name of the process's own user, and records it before and
// after. What cannot be recorded is not done. change may add to the second record.
func ChangeFiles(ctx context.Context, home settings.Home, e audit.Event, change func(by string, end *audit.Event) error) error {
	return alone(home, func(s *shared) error {
		by := identity.OSPrincipal(os.Geteuid())
		e.User, e.Role = by.User, string(by.Role)
		return s.audit.Around(ctx, e, func(end *audit.Event) error { return change(by.User, end) })
	})
}

// AcceptFiles has such a folder begin with the audit log that is there, or with none, and records it if
// that is not the one that belongs to the databases beside it.
func AcceptFiles(home settings.Home) error {
	AcceptNewAudit()
	return alone(home, func(*shared) error { return nil })
}

// alone runs f on the databases of a folder that nobody else can work on meanwhile.
func alone(home settings.Home, f func(*shared) error) error {
	if err := home.Create(); err != nil {
		return err
	}
	l, err := acquireLock(home, lockWait)
	if err != nil {
		return err
	}
	s, err := openFiles(home)
	if err != nil {
		return errors.Join(err, l.release())
	}
	s.lock = l
	return errors.Join(f(s), s.close())
}
