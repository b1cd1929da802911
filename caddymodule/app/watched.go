package app

import (
	"maps"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/health"
)

// watched is how the databases of a data folder are, and what else has to do with it, by what they say
// themselves.
type watched struct {
	mu        sync.Mutex
	databases map[string]health.Part
	watches   map[string]*watch // the newest of each name
}

// watch is what one opening of a database may say about it.
type watch struct{ name string }

// add begins to watch a database and returns what it tells of its troubles, and what ends the watch. A
// name that is watched already is another database from now on, and the earlier watch says nothing any
// more.
func (w *watched) add(name, kind string) (trouble func(reason string, err error), end func()) {
	set, end := w.part(name, kind)
	return func(reason string, err error) {
		log := caddy.Log().Named("svc").With(zap.String("database", name))
		if err == nil {
			log.Info("a database can be written again")
		} else {
			log.Error("a database cannot be written: what has to be written first is refused", zap.String("reason", reason), zap.Error(err))
		}
		set(health.NewPart(kind, time.Now(), reason))
	}, end
}

// part is add for what says itself in the log how it is.
func (w *watched) part(name, kind string) (set func(health.Part), end func()) {
	by := &watch{name}
	w.mu.Lock()
	if w.watches == nil {
		w.watches = map[string]*watch{}
	}
	w.watches[name] = by
	w.mu.Unlock()
	w.set(by, health.NewPart(kind, time.Now(), ""))
	return func(p health.Part) { w.set(by, p) }, func() { w.remove(by) }
}

// always is add for a database that is open for as long as the data folder is.
func (w *watched) always(name, kind string) (trouble func(reason string, err error)) {
	trouble, _ = w.add(name, kind)
	return trouble
}

func (w *watched) set(by *watch, p health.Part) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watches[by.name] != by {
		return
	}
	if w.databases == nil {
		w.databases = map[string]health.Part{}
	}
	w.databases[by.name] = p
}

func (w *watched) remove(by *watch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watches[by.name] == by {
		delete(w.databases, by.name)
		delete(w.watches, by.name)
	}
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
	return a.shared.watched.add(name, kind)
}

// Part is Watch for something that is no database. It says how it is each time that this changes, and
// writes its own words in the log.
func (a *App) Part(name, kind string) (set func(health.Part), end func()) {
	return a.shared.watched.part(name, kind)
}
