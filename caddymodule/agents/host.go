package agents

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/approval"
	"github.com/svc-gateway/svc/agents/cron"
	"github.com/svc-gateway/svc/agents/hook"
	"github.com/svc-gateway/svc/agents/items"
	"github.com/svc-gateway/svc/agents/memory"
	"github.com/svc-gateway/svc/agents/remote"
	"github.com/svc-gateway/svc/agents/state"
	"github.com/svc-gateway/svc/agents/undo"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/internal/seats"
)

// host is an open host with its hold on the app's resources.
type host struct {
	*agents.Host
	store   *state.Store // closed with the host
	desk    *approval.Desk
	tasks   *remote.Tasks
	crons   *cron.Table
	learns  memory.Queue // what agents learned, on its way to the memory
	sweeper func()       // ends the removal of what has expired
	unwatch func()
	leave   func() // before the store is closed
	release func()
	closed  chan struct{}

	hooks    *hook.Hooks // closed after the host, whose runs fire until they end
	patience context.Context
	lose     context.CancelFunc // ends patience, and with it the hooks that still run

	boxes *boxes
	undo  *undo.Keeper

	skills *skills
	seats  seats.Seats // of streams, which outlive configurations
}

func open(a *app.App, log *zap.Logger) (*host, error) {
	trouble, unwatch := a.Watch("state", "sqlite")
	store, err := state.Open(context.Background(), a.Home().StateDB(), state.WithTrouble(trouble))
	if err != nil {
		unwatch()
		return nil, err
	}
	boxes, err := openBoxes(a, log)
	if err != nil {
		unwatch()
		return nil, errors.Join(err, store.Close())
	}
	hooks := hook.Open(hook.Config{Path: a.Home().Hooks(), Log: log})
	hooks.Redact(a.Secrets())
	opened := agents.Open(agents.HostConfig{
		Store: store, Audit: a.Audit(), Identity: a.Identity(), Bus: a.Bus(), Node: a.Node(), Log: log, Hooks: hooks,
	})
	desk := approval.Open(approval.DeskConfig{Store: store, Runs: opened, Audit: a.Audit(), Identity: a.Identity(), Log: log})
	crons := cron.Open(cron.Config{Store: store, Audit: a.Audit(), Identity: a.Identity(), Log: log})
	h := &host{Host: opened, store: store, desk: desk, crons: crons, sweeper: until(items.New(items.Config{Store: store, Audit: a.Audit(), Log: log}).Serve), unwatch: unwatch, leave: a.AddWitness(store, a.Home().StateDB()), release: a.Hold(), closed: make(chan struct{}), hooks: hooks}
	h.tasks = remote.Open(remote.Config{Store: store, Approvals: store, Audit: a.Audit(), Log: log})
	h.patience, h.lose = context.WithCancel(context.Background())
	go h.drainAt(a.Stopping())
	h.undo = &undo.Keeper{Dir: a.Home().Undo()}
	h.boxes = boxes
	h.skills = openSkills(a, log)
	return h, nil
}

// until serves until it is ended.
func until(serve func(context.Context)) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() { serve(ctx) })
	return func() { cancel(); work.Wait() }
}

// drainAt lets the active runs end when the process begins to stop.
func (h *host) drainAt(stopping <-chan struct{}) {
	select {
	case <-h.closed:
	case <-stopping:
		time.AfterFunc(hookTime, h.lose)
		ctx, cancel := context.WithTimeout(context.Background(), drainTime)
		defer cancel()
		h.Drain(ctx)
	}
}

// Destruct closes the host when no configuration has it any more.
func (h *host) Destruct() error {
	defer h.release()
	defer h.unwatch()
	close(h.closed)
	h.crons.Close()
	h.sweeper()
	h.learns.Close(h.patience)
	h.desk.Close()
	h.tasks.Close()
	h.leave()
	err := h.Close()
	h.boxes.close() // no run is left
	h.skills.end()
	time.AfterFunc(hookTime, h.lose) // the process goes on without the runtime
	h.hooks.Close(h.patience)
	h.lose()
	return err
}
