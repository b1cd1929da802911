package app

import (
	"maps"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/health"
)

// watched is how the databases of a data folder are, by what they say themselves.
type watched struct {
	mu        sync.Mutex
	databases map[string]health.Part
}

// add begins to watch a database and returns what it tells of its troubles. A name that is watched
// already is another database from now on.
func (w *watched) add(name, kind string) (trouble func(reason string, err error)) {
	w.set(name, health.NewPart(kind, time.Now(), ""))
	return func(reason string, err error) {
		log := caddy.Log().Named("svc").With(zap.String("database", name))
		if err == nil {
			log.Info("a database can be written again")
		} else {
			log.Error("a database cannot be written: what has to be written first is refused", zap.String("reason", reason), zap.Error(err))
		}
		w.set(name, health.NewPart(kind, time.Now(), reason))
	}
}

func (w *watched) set(name string, p health.Part) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.databases == nil {
		w.databases = map[string]health.Part{}
	}
	w.databases[name] = p
}

func (w *watched) remove(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.databases, name)
}

// parts are the databases as parts of the service.
func (w *watched) parts() map[string]health.Part {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.databases)
}

// Watch tells of a database that is opened beside the app's own, in the log and in the details of
// the service's health. The database calls trouble when it can no longer be written, with a stable
// word, and with "" and nil when it can again. end is called when it is closed.
func (a *App) Watch(name, kind string) (trouble func(reason string, err error), end func()) {
	w := &a.shared.watched
	return w.add(name, kind), func() { w.remove(name) }
}
