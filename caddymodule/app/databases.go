package app

import (
	"context"
	"io/fs"
	"os"
	"slices"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/settings"
)

// Database is a file of the data folder beside the audit log.
type Database struct {
	// Path is where it is.
	Path func(settings.Home) string

	// Witnessed returns how far the database has seen the audit log that it belongs to, and the zero
	// Mark when there is no database or it says nothing.
	Witnessed func(ctx context.Context, path string) (audit.Mark, error)

	// WitnessAt notes how far the log has come in a database that says something already.
	WitnessAt func(ctx context.Context, path string, m audit.Mark) error

	// Check looks at the whole database for damage.
	Check func(ctx context.Context, path string) error

	// Backup writes a consistent copy to a new file, while the database is in use or not.
	Backup func(ctx context.Context, path, to string) error

	// Unfinished returns the ids of the runs in it that are not over, whose records the audit log
	// keeps. Nil: it has no runs.
	Unfinished func(ctx context.Context, path string) ([]string, error)
}

var databases = []Database{identityDatabase}

// RegisterDatabase makes a database of another package one that is compared with the audit log at the
// start, checked and backed up. It is called by an init function.
func RegisterDatabase(d Database) { databases = append(slices.Clip(databases), d) }

// copies write what a backup has beside the databases that are compared with the audit log.
var copies []func(ctx context.Context, home settings.Home, dir string) error

// RegisterCopy has a backup of all databases call a function of another package too, which writes a
// consistent copy of what is its own to the folder of the backup, whether a service runs or not. It is
// called by an init function.
func RegisterCopy(copyTo func(ctx context.Context, home settings.Home, dir string) error) {
	copies = append(slices.Clip(copies), copyTo)
}

// own reports whether the file lies in the data folder itself. A link leads to a database that several
// services share, and that belongs to none of their logs.
func own(path string) bool {
	info, err := os.Lstat(path)
	return err != nil || info.Mode()&fs.ModeSymlink == 0
}

// Witness is an open database that notes how far the audit log has come.
type Witness interface {
	Witness(ctx context.Context, m audit.Mark) error
}
