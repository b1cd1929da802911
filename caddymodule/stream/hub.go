package stream

import (
	"sync"

	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/policy/identity"
)

// hub knows the open streams of one handler and wakes them: when users or tokens changed, and
// when the process goes down. It runs one goroutine from the first stream on; that ends after
// retire, once no stream is left. Meanwhile it keeps what all configurations share open.
type hub struct {
	app app

	mu      sync.Mutex
	open    map[*writer]struct{}
	quit    chan struct{} // nil while the goroutine does not run
	retired bool
}

// app is what streams need of the svc app.
type app interface {
	Bus() bus.Bus
	Stopping() <-chan struct{}
	Hold() (release func())
}

func newHub(a app) *hub {
	return &hub{app: a, open: make(map[*writer]struct{})}
}

func (h *hub) enter(w *writer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open[w] = struct{}{}
	if h.quit == nil {
		h.quit = make(chan struct{})
		go h.watch(h.app.Hold(), h.app.Bus().Subscribe(identity.TopicChanges), h.quit)
	}
	select {
	case <-h.app.Stopping(): // the goroutine may have seen it before w was there
		w.stop()
	default:
	}
}

func (h *hub) leave(w *writer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.open, w)
	h.release()
}

// retire says that the handler's configuration is gone. Streams that are open stay.
func (h *hub) retire() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.retired = true
	h.release()
}

func (h *hub) release() {
	if h.retired && len(h.open) == 0 && h.quit != nil {
		close(h.quit)
		h.quit = nil
	}
}

func (h *hub) watch(release func(), changes *bus.Subscription, quit <-chan struct{}) {
	defer release()
	defer changes.Close()
	poke := changes.C()
	for {
		select {
		case _, ok := <-poke:
			if !ok {
				poke = nil // streams still look by themselves, at each keepalive
				continue
			}
			h.each((*writer).wake)
		case <-h.app.Stopping():
			h.each((*writer).stop)
			return
		case <-quit:
			return
		}
	}
}

func (h *hub) each(f func(*writer)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.open {
		f(w)
	}
}
