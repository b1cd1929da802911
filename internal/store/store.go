// Package store opens the embedded SQLite databases of the service and commits to them in groups.
//
// [Open] creates or migrates a database and starts its one writer. Whoever changes something hands
// the writer a function: [DB.Write] returns when the change is on disk, [DB.Queue] as soon as the
// change is accepted. The writer runs all that is waiting in one transaction and acknowledges after
// its COMMIT, so that fifty callers share one fsync instead of paying for fifty:
//
//	db, err := store.Open(ctx, path, migrations, store.Options{Full: true})
//	err = db.Write(ctx, func(tx *store.Tx) error {
//		_, err := tx.Exec(`UPDATE runs SET version = ? WHERE run = ? AND version = ?`, v+1, run, v)
//		return err
//	})
//
// Guarantees: an operation is all or nothing, whatever the others in its transaction do; with
// Options.Full an acknowledged Write survives kill -9 and a power cut; queued operations are run in
// the order they were accepted, and before every Write that began later; they are kept and tried
// again while the disk is full, and written at [DB.Close]. While commits fail [DB.Err] says so. They
// fail too while another file, or none, is where the database or its write-ahead log was opened.
//
// Readers use [DB.Read], a pool of read-only connections that never wait for the writer (WAL).
// Files are created with mode 0600.
//
// All methods of DB are safe for concurrent use. A Tx belongs to the writer and must not be kept.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"
)

// ErrUnavailable is wrapped by the errors of operations that were lost or refused because the
// database could not be written: disk full, read-only, an I/O error, locked by another process,
// deleted or replaced while it is in use.
var ErrUnavailable = errors.New("database cannot be written")

// ErrClosed is returned by operations on a closed DB.
var ErrClosed = errors.New("database is closed")

// Options tune a database. The zero value is usable.
type Options struct {
	Full    bool          // every commit waits for the disk (PRAGMA synchronous=FULL); false: a power cut may lose the last commits, never consistency
	Erase   bool          // what is deleted is overwritten, so that a freed page holds nothing of it; see [DB.Checkpoint] for the rest
	Queue   int           // operations that Queue accepts before callers wait; default 4096
	Readers int           // connections of the read pool; default 4
	Linger  time.Duration // how long queued operations wait for company before their commit; default 25 ms

	// CheckTime bounds how long Open looks for damage before it opens the database; default 1 s.
	CheckTime time.Duration

	// Dropped is told, in the writer, of each queued operation that was dropped because of an error
	// of its own, before a Flush that waits for it returns. It must not block. Default: nobody is told.
	Dropped func(error)

	// Trouble is told, in the writer, when commits begin to fail, with a stable word and the error,
	// and with "" and nil when they succeed again. It must not block. Default: nobody is told.
	Trouble func(reason string, err error)
}

func (o Options) withDefaults() Options {
	if o.Queue <= 0 {
		o.Queue = 4096
	}
	if o.Readers <= 0 {
		o.Readers = 4
	}
	if o.Linger <= 0 {
		o.Linger = 25 * time.Millisecond
	}
	if o.CheckTime <= 0 {
		o.CheckTime = time.Second
	}
	return o
}

// DB is one SQLite database with one writer.
type DB struct {
	opts  Options
	path  string
	write *sql.DB
	read  *Reader
	conn  *conn
	place *place // the writer's

	urgent chan *op      // a caller waits for the commit
	queued chan *op      // nobody waits
	enough chan struct{} // capacity 1: many are queued, do not linger
	failed atomic.Pointer[error]

	closing chan struct{} // closed first: senders that wait give up
	gate    sync.RWMutex  // held for reading while sending, so that the channels can be closed
	closed  bool          // under gate
	done    chan struct{} // closed when the writer has gone
	lost    error         // what Close could not write; set before done is closed
	once    sync.Once
}

// Open opens the database at path, creates it when it is missing, brings its schema up to date with
// the goose migrations (*.sql in the root of migrations) and starts the writer. A database made by a
// newer program is refused, and so is one that is found damaged, with an error that wraps ErrDamaged.
// The caller closes the DB.
func Open(ctx context.Context, path string, migrations fs.FS, o Options) (*DB, error) {
	o = o.withDefaults()
	if err := secure(path); err != nil {
		return nil, fmt.Errorf("opening database %s: %w", path, err)
	}
	w, err := sql.Open("sqlite", writerDSN(path, o))
	if err != nil {
		return nil, fmt.Errorf("opening database %s: %w", path, err)
	}
	w.SetMaxOpenConns(1)
	if err := quickCheck(ctx, w, path, o.CheckTime); err != nil {
		return nil, errors.Join(fmt.Errorf("opening database %s: %w", path, damaged(path, err)), w.Close())
	}
	if err := migrate(ctx, w, migrations); err != nil {
		return nil, errors.Join(fmt.Errorf("migrating database %s: %w", path, damaged(path, err)), w.Close())
	}
	c, err := w.Conn(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening database %s: %w", path, err), w.Close())
	}
	p, err := newPlace(path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening database %s: %w", path, err), c.Close(), w.Close())
	}
	r, err := sql.Open("sqlite", readerDSN(path))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening database %s: %w", path, err), c.Close(), w.Close())
	}
	r.SetMaxOpenConns(o.Readers)
	r.SetMaxIdleConns(o.Readers)
	d := &DB{
		opts: o, path: path, write: w, read: &Reader{DB: r, prepared: make(map[string]*sql.Stmt)}, conn: newConn(c), place: p,
		urgent: make(chan *op, 256), queued: make(chan *op, o.Queue), enough: make(chan struct{}, 1),
		closing: make(chan struct{}), done: make(chan struct{}),
	}
	go newWriter(d).loop()
	return d, nil
}

// Read returns the pool of read-only connections. They see the last commit.
func (d *DB) Read() *Reader { return d.read }

// Size is what the database takes, in bytes, without pages that are free.
func (d *DB) Size(ctx context.Context) (bytes int64, err error) {
	err = d.read.QueryRowContext(ctx,
		`SELECT (p.page_count - f.freelist_count) * s.page_size FROM pragma_page_count p, pragma_freelist_count f, pragma_page_size s`).Scan(&bytes)
	return bytes, err
}

// Write runs op in the writer and returns after the COMMIT that contains it. An error of op, or a
// panic in it, rolls back op alone and is returned as it is. When ctx ends before op has begun it is
// not run; afterwards Write waits for the outcome, so that an error of ctx always means "not written".
// An error that wraps ErrUnavailable means the same.
//
// op must not call methods of the DB, and must be quick: everybody waits for it.
func (d *DB) Write(ctx context.Context, fn func(*Tx) error) error {
	return d.await(ctx, &op{fn: fn, done: make(chan struct{})})
}

func (d *DB) await(ctx context.Context, o *op) error {
	if err := d.send(ctx, d.urgent, o); err != nil {
		return err
	}
	select {
	case <-o.done:
		return o.err
	case <-ctx.Done():
		if o.cancel() {
			return ctx.Err()
		}
		<-o.done
		return o.err
	}
}

// WriteExec is Write for a single statement, which is all or nothing by itself and needs no savepoint.
func (d *DB) WriteExec(ctx context.Context, s Statement) error {
	return d.await(ctx, &op{stmt: s, done: make(chan struct{})})
}

// Queue hands op to the writer and returns when it is accepted; it is committed within a few
// Options.Linger, together with others. When Options.Queue operations are waiting the caller waits
// too, until ctx ends. op may be run again when its commit failed, so it must have no effect but on
// the database; an error of its own drops it and is reported by no one.
func (d *DB) Queue(ctx context.Context, fn func(*Tx) error) error {
	return d.enqueue(ctx, &op{fn: fn})
}

// QueueExec is Queue for a single statement.
func (d *DB) QueueExec(ctx context.Context, s Statement) error {
	return d.enqueue(ctx, &op{stmt: s})
}

func (d *DB) enqueue(ctx context.Context, o *op) error {
	if err := d.send(ctx, d.queued, o); err != nil {
		return err
	}
	if len(d.queued) >= min(commitSooner, d.opts.Queue) {
		select {
		case d.enough <- struct{}{}:
		default:
		}
	}
	return nil
}

func (d *DB) send(ctx context.Context, to chan *op, o *op) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d.gate.RLock()
	defer d.gate.RUnlock()
	if d.closed {
		return ErrClosed
	}
	select {
	case to <- o: // nearly always, and for a fraction of what a select of several channels costs
		return nil
	default:
	}
	select {
	case to <- o:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-d.closing:
		return ErrClosed
	}
}

// Flush returns when everything that was accepted before the call is committed.
func (d *DB) Flush(ctx context.Context) error {
	return d.Write(ctx, nil)
}

// probe makes one real change, to the user_version in the database's header, to find out whether the
// database can be written.
func probe(tx *Tx) error {
	var v int32
	if err := tx.QueryRow(`PRAGMA user_version`).Scan(&v); err != nil {
		return err
	}
	_, err := tx.Exec(fmt.Sprintf(`PRAGMA user_version = %d`, v&0xff+1)) // a PRAGMA takes no parameters
	return err
}

// Err returns nil while commits succeed. From the first that fails until one succeeds it returns
// that failure, which wraps ErrUnavailable.
func (d *DB) Err() error {
	if p := d.failed.Load(); p != nil {
		return *p
	}
	return nil
}

// Close writes what is queued, stops the writer and closes the files. Its error says how many queued
// operations could not be written. A second Close does nothing.
func (d *DB) Close() error {
	var err error
	d.once.Do(func() {
		close(d.closing)
		d.gate.Lock()
		d.closed = true
		close(d.urgent)
		close(d.queued)
		d.gate.Unlock()
		<-d.done
		err = errors.Join(d.lost, d.read.Close(), d.conn.close(), d.write.Close())
	})
	return err
}

// Unavailable reports whether an error, of a Write as of a query on [DB.Read], tells of the storage
// and not of the statement: nothing can be read or written at present, or the DB is closed.
func (d *DB) Unavailable(err error) bool {
	if err == nil {
		return false
	}
	d.gate.RLock()
	defer d.gate.RUnlock()
	return d.closed || errors.Is(err, ErrUnavailable) || errors.Is(err, ErrClosed) || storage(err) != nil
}
