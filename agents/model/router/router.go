// Package router makes one model of several: a request names the model it wants, and where that one is not
// available, those that may take its place are asked.
//
//	r, err := router.New(log, router.Named{Name: "default", Model: first, Fallback: []string{"local"}}, router.Named{Name: "local", Model: second})
//	resp, err := r.Turn(ctx, model.Request{Model: "local", …}, delta)
//
// # Guarantees
//
// Another model is asked only after an error that matches [model.ErrUnavailable], and only before the first piece
// of an answer was shown: nobody reads half an answer of one model and the rest of another's. A model takes the
// place of those that name it and of no others; the fallbacks of a fallback are not asked. [model.Response.Model]
// says who answered. One that was not available is asked last for half a minute, so that not every turn waits for
// it first.
//
// # Concurrency
//
// A Router is safe for concurrent use.
package router

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/model"
)

// rest is how long a model that was not available is asked last.
const rest = 30 * time.Second

// Named is a model that requests can ask for.
type Named struct {
	Name     string
	Also     string // another name of it; empty: none
	Model    model.Model
	Window   int      // tokens; 0: unlimited
	Fallback []string // names of models that may take its place, in this order
}

// Router is several models. Make it with [New].
type Router struct {
	all []*entry // the default one first
	log *zap.Logger
}

type entry struct {
	Named
	chain []*entry // itself first

	mu      sync.Mutex
	resting time.Time // until when it is asked last
}

var _ model.Model = (*Router)(nil)

// New returns a router of the models, the default one first. Names must differ, and fallbacks be names among them.
func New(log *zap.Logger, first Named, others ...Named) (*Router, error) {
	r := &Router{log: log}
	for _, n := range append([]Named{first}, others...) {
		if r.find(n.Name) != nil || n.Also != "" && r.find(n.Also) != nil {
			return nil, fmt.Errorf("two models are called %s", n.Name)
		}
		r.all = append(r.all, &entry{Named: n})
	}
	for _, e := range r.all {
		e.chain = []*entry{e}
		for _, name := range e.Fallback {
			other := r.find(name)
			if other == nil || slices.Contains(e.chain, other) {
				return nil, fmt.Errorf("the model %s cannot fall back on %s", e.Name, name)
			}
			e.chain = append(e.chain, other)
		}
	}
	return r, nil
}

// find returns the model of a name; the empty one is the default's. Nil: there is none.
func (r *Router) find(name string) *entry {
	if name == "" && len(r.all) > 0 {
		return r.all[0]
	}
	i := slices.IndexFunc(r.all, func(e *entry) bool { return name != "" && (e.Name == name || e.Also == name) })
	if i < 0 {
		return nil
	}
	return r.all[i]
}

// Name is the name of the default model.
func (r *Router) Name() string { return r.all[0].Model.Name() }

// Names are all names that a request may ask for, in the order of the models.
func (r *Router) Names() (names []string) {
	for _, e := range r.all {
		names = append(names, e.Name)
		if e.Also != "" {
			names = append(names, e.Also)
		}
	}
	return names
}

// Window is how many tokens of a conversation fit a model and all that may take its place; 0: unlimited.
func (r *Router) Window(name string) (least int) {
	e := r.find(name)
	if e == nil {
		return 0
	}
	for _, one := range e.chain {
		if one.Window > 0 && (least == 0 || one.Window < least) {
			least = one.Window
		}
	}
	return least
}

// Turn implements [model.Model]. With an error the response names the model that it is of.
func (r *Router) Turn(ctx context.Context, req model.Request, delta func(string)) (model.Response, error) {
	asked := r.find(req.Model)
	if asked == nil {
		return model.Response{}, fmt.Errorf("%w: there is no model %q", model.ErrBadResponse, req.Model)
	}
	shown := false
	show := func(text string) {
		shown = true
		if delta != nil {
			delta(text)
		}
	}
	var failed error // of the first one, which is the one to mend; rather of one that had begun an answer
	for _, e := range asked.order(time.Now()) {
		resp, err := e.Model.Turn(ctx, req, show)
		if err == nil {
			e.rest(time.Time{})
			return resp, nil
		}
		if failed == nil || errors.Is(failed, model.ErrUnasked) && !errors.Is(err, model.ErrUnasked) {
			failed = err
		}
		if resp.Model = e.Model.Name(); shown || !errors.Is(err, model.ErrUnavailable) || ctx.Err() != nil {
			return resp, err
		}
		if len(asked.chain) == 1 {
			return resp, err
		}
		e.rest(time.Now().Add(rest))
		r.log.Warn("a model is not available, the next one is asked", zap.String("model", e.Name), zap.String("for", asked.Name), zap.String("agent", req.Agent), zap.Error(err))
	}
	return model.Response{Model: asked.Model.Name()}, failed
}

// order is in which order the models of a chain are asked: those that rest last.
func (e *entry) order(now time.Time) (list []*entry) {
	var tired []*entry
	for _, one := range e.chain {
		one.mu.Lock()
		rests := now.Before(one.resting)
		one.mu.Unlock()
		if rests {
			tired = append(tired, one)
		} else {
			list = append(list, one)
		}
	}
	return append(list, tired...)
}

func (e *entry) rest(until time.Time) {
	e.mu.Lock()
	e.resting = until
	e.mu.Unlock()
}
