package analytics

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/helper"
	"github.com/svc-gateway/svc/internal/settings"
)

// ErrMissing is matched by every error that is due to the helper program not being there.
var ErrMissing = errors.New("the analytical database is not available")

// Config says where the database is and what it may use.
type Config struct {
	Helper    string        // absolute path of svc-duck; empty: beside the program that runs
	Folder    string        // of the database, its own
	Snapshots string        // folder of the snapshots, its own
	Socket    string        // that the writer answers on
	Lock      string        // file that the writer holds a lock on
	MaxAge    time.Duration // how old a snapshot may be that a query runs on
	Time      time.Duration // how long a query may take
	Memory    int64         // bytes that the writer, and each query, may take
	Threads   int           // threads that the writer, and each query, may use

	Log *zap.Logger // nil: nothing is logged
	// Trouble is told when the writer stops, with a stable word, and with "" and nil when it
	// answers again. Nil: nobody is told.
	Trouble func(reason string, err error)
	// Run runs queries. Nil: [RunHere].
	Run Runner
}

// From is the configuration that the settings and a data folder make.
func From(s settings.Database, home settings.Home) Config {
	return Config{
		Helper: s.Helper, Folder: home.Analytics(), Snapshots: home.Snapshots(), Socket: home.IngestSocket(), Lock: home.IngestLock(),
		MaxAge: s.SnapshotMaxAge, Time: s.QueryTimeout, Memory: s.Memory, Threads: s.Threads,
	}
}

// DB is the analytical database, seen from outside of the helper.
type DB struct {
	config  Config
	missing error // matches ErrMissing; nil when the helper is there

	mu      sync.Mutex // guards the rest
	stop    func()     // ends the supervisor; nil when there is none
	stopped chan struct{}
	last    error // why the writer is not there
}

// Open finds the helper. It starts nothing and does not fail: a database without a helper says so
// when it is used.
func Open(c Config) *DB {
	if c.Log == nil {
		c.Log = zap.NewNop()
	}
	if c.Trouble == nil {
		c.Trouble = func(string, error) {}
	}
	if c.Run == nil {
		c.Run = RunHere
	}
	d := &DB{config: c}
	path, err := helper.Find("svc-duck", "database.helper", c.Helper)
	if err != nil {
		d.missing = fmt.Errorf("%w: %w", ErrMissing, err)
	}
	d.config.Helper = path
	return d
}

// Missing returns nil, or why there is no database: an error that matches [ErrMissing].
func (d *DB) Missing() error { return d.missing }
