package analytics

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/svc-gateway/svc/internal/duckwire"
)

// DatabaseFile is the name of the database's file, in its folder and in a backup.
const DatabaseFile = duckwire.DatabaseFile

// Backup writes a copy of the newest state to a new file, which is a complete database. It needs a writer;
// see [DB.Use]. Nothing waits for it but the next change.
func (d *DB) Backup(ctx context.Context, to string) (err error) {
	s, pin, err := d.pinned(ctx, 0)
	if err != nil {
		return fmt.Errorf("copying the analytical database: %w", err)
	}
	defer pin.Close()
	from, err := os.Open(filepath.Join(s.Folder, duckwire.DatabaseFile))
	if err != nil {
		return fmt.Errorf("copying the analytical database: %w", err)
	}
	defer from.Close()
	defer context.AfterFunc(ctx, func() { _ = from.Close() })()
	w, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("copying the analytical database: %w", err)
	}
	_, err = io.Copy(w, from)
	if err := errors.Join(err, ctx.Err(), w.Sync(), w.Close()); err != nil {
		return errors.Join(fmt.Errorf("copying the analytical database: %w", err), os.Remove(to))
	}
	return nil
}
