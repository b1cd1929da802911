package agents

import (
	"context"

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

// closeDatabase lets go of it.
func (h *Handler) closeDatabase() error {
	if h.database == nil {
		return nil
	}
	_, err := databases.Delete(*h.database)
	return err
}
