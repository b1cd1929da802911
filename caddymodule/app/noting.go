package app

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/audit"
)

const (
	noteEvery = 10 * time.Second
	noteTime  = 5 * time.Second // how long it may take
)

// notes are the databases that are told now and then how far the audit log has come.
type notes struct {
	mu        sync.Mutex
	witnesses []Witness
	told      map[Witness]audit.Mark
	stop      func() // set while they are told
}

// add has the database at path told, if it belongs to the log.
func (n *notes) add(w Witness, path string) {
	if !own(path) {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.witnesses = append(n.witnesses, w)
}

func (n *notes) remove(w Witness) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.witnesses = slices.DeleteFunc(n.witnesses, func(o Witness) bool { return o == w })
	delete(n.told, w)
}

// tell tells those of the databases that have not been told. What cannot be written now is told the
// next time: that a database cannot be written says the database.
func (n *notes) tell(log *audit.Log) {
	ctx, cancel := context.WithTimeout(context.Background(), noteTime)
	defer cancel()
	m, err := log.Mark(ctx)
	if err != nil {
		caddy.Log().Named("svc").Warn("looking how far the audit log has come", zap.Error(err))
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.told == nil {
		n.told = map[Witness]audit.Mark{}
	}
	for _, w := range n.witnesses {
		if n.told[w] == m {
			continue
		}
		if err := w.Witness(ctx, m); err == nil {
			n.told[w] = m
		}
	}
}

// begin tells the databases now and every noteEvery, until end is called.
func (n *notes) begin(log *audit.Log) {
	n.tell(log)
	quit, done := make(chan struct{}), make(chan struct{})
	n.stop = func() { close(quit); <-done }
	go func() {
		defer close(done)
		tick := time.NewTicker(noteEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				n.tell(log)
			case <-quit:
				return
			}
		}
	}()
}

// end tells the databases for the last time.
func (n *notes) end(ctx context.Context, log *audit.Log) error {
	if n.stop != nil {
		n.stop()
	}
	err := log.Flush(ctx)
	n.tell(log)
	return err
}

// AddWitness has a database that is opened beside the app's own, at path, told how far the audit log
// has come. leave, which tells it for the last time, is called before it is closed.
func (a *App) AddWitness(w Witness, path string) (leave func()) {
	s := a.shared
	s.notes.add(w, path)
	if s.serves() {
		s.notes.tell(s.audit)
	}
	return func() {
		if s.serves() {
			s.notes.tell(s.audit)
		}
		s.notes.remove(w)
	}
}
