package redact

import (
	"errors"
	"net/http"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/scanner/redact"
)

// pause is how long nothing more of a stream has to come until an event goes on that waits for a few letters.
const pause = 250 * time.Millisecond

// pauses watches a response for them.
type pauses struct {
	mu    sync.Mutex // held by whoever writes to the response
	timer *time.Timer
	over  bool // nothing is written after a pause any more
	broke bool // redacting panicked then
}

// watchPause begins to watch for a pause if something waits. The lock is held.
func (w *writer) watchPause() {
	stream, ok := w.body.(redact.Idler)
	switch p := &w.pauses; {
	case !ok || w.observes():
	case !stream.Waits():
		if p.timer != nil {
			p.timer.Stop()
		}
	case p.timer == nil:
		p.timer = time.AfterFunc(pause, w.paused)
	default:
		p.timer.Reset(pause)
	}
}

// paused writes what need not wait any longer.
func (w *writer) paused() {
	w.pauses.mu.Lock()
	defer w.pauses.mu.Unlock()
	if w.pauses.over || w.err != nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			w.pauses.broke = true
			w.handler.logger.Error("redacting the response failed", zap.Any("panic", p), zap.Stack("stack"))
		}
	}()
	w.emit(w.body.(redact.Idler).Idle) //nolint:forcetypeassert // it was one when the timer was set, and stays it
	if w.err == nil {
		if err := http.NewResponseController(w.ResponseWriter).Flush(); !errors.Is(err, http.ErrNotSupported) {
			w.err = err
		}
	}
}

// end lets nothing be written after a pause any more.
func (p *pauses) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over = true; p.timer != nil {
		p.timer.Stop()
	}
}
