//go:build cgo && linux

package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/duckdb/duckdb-go/v2"

	"github.com/svc-gateway/svc/internal/duckwire"
)

// writer is the open database. One change is made at a time.
type writer struct {
	folder    string // of the database and of files that are being imported
	snapshots string
	db        *sql.DB
	live      *os.File // see copyFile; closed by the end of the process only

	change sync.Mutex // held by who changes the database or copies it

	mu      sync.Mutex // guards the rest
	current *generation
	dirty   bool // the database has what the current generation lacks
	next    uint64
}

// openWriter opens the database, which recovers it after a crash, and removes what a crash left.
func openWriter(c duckwire.Writer) (*writer, error) {
	w := &writer{folder: c.Folder, snapshots: c.Snapshots}
	if err := w.removeLeftovers(); err != nil {
		return nil, err
	}
	// The working directory keeps the path out of the DSN, where characters have a meaning.
	if err := os.Chdir(c.Folder); err != nil {
		return nil, fmt.Errorf("entering the folder: %w", err)
	}
	options := url.Values{
		"autoinstall_known_extensions": {"false"},
		"autoload_known_extensions":    {"false"},
		"allow_community_extensions":   {"false"},
		"memory_limit":                 {strconv.FormatInt(c.Memory, 10) + "B"},
		"threads":                      {strconv.Itoa(c.Threads)},
	}
	connector, err := duckdb.NewConnector(duckwire.DatabaseFile+"?"+options.Encode(), nil)
	if err != nil {
		return nil, fmt.Errorf("opening the analytical database: %w", err)
	}
	w.db = sql.OpenDB(connector)
	w.db.SetMaxOpenConns(1)
	for _, set := range []string{
		"SET TimeZone = 'UTC'",
		"SET temp_directory = " + quote(filepath.Join(c.Folder, "tmp")),
		"SET allowed_directories = [" + quote(c.Folder+"/") + "]",
		"SET enable_external_access = false",
		"SET lock_configuration = true",
	} {
		if _, err := w.db.ExecContext(context.Background(), set); err != nil {
			return nil, errors.Join(fmt.Errorf("setting up the analytical database: %w", err), w.db.Close())
		}
	}
	if err := os.Chmod(databasePath(c.Folder), 0o600); err != nil {
		return nil, errors.Join(err, w.db.Close())
	}
	if w.live, err = os.Open(databasePath(c.Folder)); err != nil {
		return nil, errors.Join(err, w.db.Close())
	}
	return w, nil
}

// removeLeftovers removes files of imports that did not end, and the generations of earlier writers:
// nobody knows whether they were complete on the disk when the machine stopped.
func (w *writer) removeLeftovers() error {
	for _, pattern := range []string{filepath.Join(w.folder, importPattern), filepath.Join(w.snapshots, unpublished+"*")} {
		left, err := filepath.Glob(pattern)
		if err != nil {
			return fmt.Errorf("listing what a crash left: %w", err)
		}
		for _, path := range left {
			if err := os.RemoveAll(path); err != nil {
				return fmt.Errorf("removing what a crash left: %w", err)
			}
		}
	}
	w.next = 1
	entries, err := os.ReadDir(w.snapshots)
	if err != nil {
		return fmt.Errorf("listing generations: %w", err)
	}
	for _, e := range entries {
		if n, err := strconv.ParseUint(e.Name(), 10, 64); err == nil {
			w.next = max(w.next, n+1)
		}
	}
	w.sweep()
	return nil
}

// close writes everything to the database file and closes it.
func (w *writer) close() error {
	w.change.Lock()
	defer w.change.Unlock()
	return w.db.Close()
}

// changed notes that the current generation is not the newest state any more.
func (w *writer) changed() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dirty = true
}

// quote is a text as SQL has it.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// name is an identifier as SQL has it.
func name(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
