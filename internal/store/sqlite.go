package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // registers the driver "sqlite"
)

// dsn builds the driver's address of a file. The path is percent-encoded because SQLite parses it as
// a URI: a '?' or '#' in a folder's name would otherwise end it.
func dsn(path, query string) string {
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + query
}

// writerDSN: WAL lets readers, sqlite3 included, go on while the writer commits. A checkpoint every
// 4,000 pages (16 MiB) instead of 1,000 writes a page that changes often fewer times.
func writerDSN(path string, o Options) string {
	sync, erase := "normal", "0"
	if o.Full {
		sync = "full"
	}
	if o.Erase {
		erase = "1"
	}
	return dsn(path, "_pragma=busy_timeout(5000)&_pragma=journal_mode(wal)&_pragma=synchronous("+sync+")&_pragma=secure_delete("+erase+")"+
		"&_pragma=foreign_keys(1)&_pragma=trusted_schema(0)&_pragma=temp_store(memory)"+
		"&_pragma=cache_size(-8000)&_pragma=wal_autocheckpoint(4000)&_pragma=journal_size_limit(67108864)")
}

func readerDSN(path string) string {
	return dsn(path, "mode=ro&_pragma=busy_timeout(5000)&_pragma=query_only(1)&_pragma=trusted_schema(0)&_pragma=temp_store(memory)")
}

// OpenReadOnly opens an existing database for reading, also one that another process writes.
func OpenReadOnly(ctx context.Context, path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", readerDSN(path))
	if err != nil {
		return nil, err
	}
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(damaged(path, err), db.Close())
	}
	return db, nil
}

// OpenMemory opens an empty private database in memory with the schema of the migrations, on one
// connection. It ends when it is closed.
func OpenMemory(ctx context.Context, migrations fs.FS) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file::memory:?_pragma=trusted_schema(0)&_pragma=temp_store(memory)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	db.SetMaxIdleConns(1)
	if err := migrate(ctx, db, migrations); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// secure makes sure that the database and its companions can be read by their owner only. SQLite
// gives the -wal and -shm files the mode of the database, which therefore must exist first.
func secure(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	for _, p := range []string{path, path + "-wal", path + "-shm"} {
		switch info, err := os.Stat(p); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case info.Mode().Perm()&0o077 != 0:
			if err := os.Chmod(p, 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}

// CheckVersion returns an error unless the database has the newest of the migrations.
func CheckVersion(ctx context.Context, db *sql.DB, migrations fs.FS) error {
	p, err := goose.NewProvider(goose.DialectSQLite3, db, migrations)
	if err != nil {
		return err
	}
	now, newest, err := p.GetVersions(ctx)
	switch {
	case err != nil:
		return err
	case now < newest:
		return fmt.Errorf("its schema is version %d of %d: an older program made it, and this one brings it up to date when it is started on it", now, newest)
	}
	return nil
}

func migrate(ctx context.Context, db *sql.DB, migrations fs.FS) error {
	p, err := goose.NewProvider(goose.DialectSQLite3, db, migrations)
	if err != nil {
		return err
	}
	now, newest, err := p.GetVersions(ctx)
	if err != nil {
		return err
	}
	if now > newest {
		return fmt.Errorf("its schema is version %d and this program knows up to %d: use the newer program that made it", now, newest)
	}
	_, err = p.Up(ctx)
	return err
}
