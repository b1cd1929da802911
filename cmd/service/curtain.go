package main

import (
	"io"
	"slices"
	"sync"
)

// curtain hides what is written behind it while a person is asked something: what agents say and do
// meanwhile could push the question off the screen, or look like another one. It is shown after that.
type curtain struct {
	mu    sync.Mutex
	drawn bool
	held  []piece
}

// piece is something that was written while the curtain was drawn.
type piece struct {
	to   io.Writer
	text []byte
}

// behind is a writer to w that the curtain hides.
func (c *curtain) behind(w io.Writer) io.Writer { return &hidden{c, w} }

func (c *curtain) draw() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drawn = true
}

// raise shows what was written meanwhile, in its order.
func (c *curtain) raise() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.held {
		_, _ = p.to.Write(p.text) // like what is written to a terminal otherwise
	}
	c.drawn, c.held = false, nil
}

// hidden is a writer behind a curtain.
type hidden struct {
	curtain *curtain
	w       io.Writer
}

func (h *hidden) Write(p []byte) (int, error) {
	h.curtain.mu.Lock()
	defer h.curtain.mu.Unlock()
	if h.curtain.drawn {
		h.curtain.held = append(h.curtain.held, piece{h.w, slices.Clone(p)})
		return len(p), nil
	}
	return h.w.Write(p)
}
