package agents

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/analytics"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/internal/settings"
)

// databases holds the analytical database of each data folder, with its settings. After a reload that
// changes them the new one uses the old one's writer until that ends.
var databases = caddy.NewUsagePool()

type databaseKey struct {
	home     string
	settings settings.Database
}

// database is an analytical database that is part of the service.
type database struct {
	*analytics.DB
	unwatch func()
}

// Destruct ends the writer when no configuration has the database any more.
func (d *database) Destruct() error {
	defer d.unwatch()
	return d.Close()
}

// openDatabase gives the handler the analytical database of its configuration. Its writer starts with
// the configuration: one that is only validated starts nothing.
func (h *Handler) openDatabase(a *app.App, box *box, log *zap.Logger) (*analytics.DB, error) {
	key := databaseKey{a.Home().Dir(), a.Settings().Database}
	shared, _, err := databases.LoadOrNew(key, func() (caddy.Destructor, error) {
		c := analytics.From(a.Settings().Database, a.Home())
		c.Log, c.Run = log, box.query
		d := &database{DB: analytics.Open(c), unwatch: func() {}}
		if d.Missing() == nil {
			c.Trouble, d.unwatch = a.Watch("database", "duckdb")
			d.DB = analytics.Open(c)
		}
		return d, nil
	})
	if err != nil {
		return nil, err
	}
	h.database = &key
	d := shared.(*database)
	a.OnStart(func(context.Context) error {
		if err := d.Missing(); err != nil {
			log.Info("there is no analytical database: query_database answers with an error", zap.Error(err))
		}
		d.Serve()
		return nil
	})
	return d.DB, nil
}

// backupDatabase writes a copy of the analytical database to the folder of a backup: of that which this
// process has open, else of the data folder's, with a writer of its own.
func backupDatabase(ctx context.Context, home settings.Home, dir string) (err error) {
	if _, err := os.Stat(filepath.Join(home.Analytics(), analytics.DatabaseFile)); errors.Is(err, fs.ErrNotExist) {
		return nil // nothing was ever imported
	}
	var db *analytics.DB
	databases.Range(func(key, value any) bool {
		if key.(databaseKey).home == home.Dir() {
			db = value.(*database).DB
		}
		return db == nil
	})
	if db == nil {
		s, _, err := app.Resolve(home, nil)
		if err != nil {
			return err
		}
		db = analytics.Open(analytics.From(s.Database, home))
		defer func() { err = errors.Join(err, db.Close()) }()
		if db.Missing() == nil {
			err = db.Use(ctx)
		}
		if err != nil {
			return err
		}
	}
	if err := db.Missing(); err != nil {
		return fmt.Errorf("%s is there and cannot be copied: %w, or move the folder away", home.Analytics(), err)
	}
	return db.Backup(ctx, filepath.Join(dir, analytics.DatabaseFile))
}

// closeDatabase lets go of it.
func (h *Handler) closeDatabase() error {
	if h.database == nil {
		return nil
	}
	_, err := databases.Delete(*h.database)
	return err
}
