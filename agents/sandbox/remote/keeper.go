package remote

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/health"
)

const (
	attemptTime  = 10 * time.Second // of one request of the keeper
	closeTime    = 5 * time.Second  // for what is still to be deleted when the box is closed
	slowestRetry = time.Minute
	slowestSweep = 10 * time.Minute
)

// keeper sees to it that no sandbox outlives its run. It deletes those of runs that have ended, and those
// in the provider's list that belong to this installation and to no run of this process: what a process
// that has died has left behind, and what was made although its maker never learned of it.
type keeper struct {
	Config
	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup
	soon chan struct{} // look for orphans soon

	mu       sync.Mutex
	runs     map[string]bool          // at work here
	doomed   map[string]chan struct{} // to be deleted; closed when it is
	failing  map[string]string        // of the doomed, those whose deletion has failed, and why
	unlisted string                   // why the provider's list could not be had; empty when it could
}

func newKeeper(c Config) *keeper {
	k := &keeper{Config: c, soon: make(chan struct{}, 1), runs: map[string]bool{}, doomed: map[string]chan struct{}{}, failing: map[string]string{}}
	k.ctx, k.stop = context.WithCancel(context.Background())
	k.work.Go(k.sweep)
	return k
}

// begin keeps the sandbox of a run from being taken for an orphan, until end.
func (k *keeper) begin(run string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.runs[run] = true
}

func (k *keeper) end(run string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.runs, run)
}

// suspect has orphans looked for soon.
func (k *keeper) suspect() {
	select {
	case k.soon <- struct{}{}:
	default: // they will be
	}
}

// remove has a sandbox deleted and waits for that for a while. It reports whether it was.
func (k *keeper) remove(id string, wait time.Duration) bool {
	done := k.doom(id)
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// doom begins to delete a sandbox, unless that has begun.
func (k *keeper) doom(id string) <-chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	if done, ok := k.doomed[id]; ok {
		return done
	}
	done := make(chan struct{})
	if k.ctx.Err() != nil { // closed: the next process finds it
		return done
	}
	k.doomed[id] = done
	k.work.Go(func() { k.delete(id, done) })
	return done
}

// delete deletes a sandbox, as often as it takes.
func (k *keeper) delete(id string, done chan struct{}) {
	for n, pause := 1, k.Pace.Retry; ; n, pause = n+1, min(2*pause, slowestRetry) {
		ctx, cancel := context.WithTimeout(k.ctx, attemptTime)
		err := k.Provider.Delete(ctx, id)
		cancel()
		if err == nil {
			k.mu.Lock()
			delete(k.doomed, id)
			delete(k.failing, id)
			k.mu.Unlock()
			close(done)
			if n > 1 {
				k.tell()
				k.Log.Info("a remote sandbox was deleted at last", zap.String("provider", k.Provider.Name()), zap.String("sandbox", id), zap.Int("attempts", n))
			}
			return
		}
		k.mu.Lock()
		k.failing[id] = health.Reason(err)
		k.mu.Unlock()
		k.tell()
		k.Log.Warn("a remote sandbox could not be deleted; it is tried again", zap.String("provider", k.Provider.Name()), zap.String("sandbox", id),
			zap.Int("attempts", n), zap.Error(err), zap.String("says", says(err)))
		if !k.pause(pause) {
			return
		}
	}
}

// pause reports false when the keeper is closed before it is over.
func (k *keeper) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-k.ctx.Done():
		return false
	}
}

// sweep looks for orphans: now, soon, and less and less often, because lists lag behind.
func (k *keeper) sweep() {
	pause := k.Pace.Sweep
	for {
		k.look()
		timer := time.NewTimer(pause)
		select {
		case <-k.ctx.Done():
			timer.Stop()
			return
		case <-k.soon:
			timer.Stop()
			pause = k.Pace.Sweep
		case <-timer.C:
			pause = min(2*pause, slowestSweep)
		}
	}
}

// look has every orphan in the provider's list deleted.
func (k *keeper) look() {
	ctx, cancel := context.WithTimeout(k.ctx, 3*attemptTime)
	defer cancel()
	found, err := k.Provider.List(ctx, k.Installation)
	if k.ctx.Err() != nil {
		return
	}
	reason := ""
	if err != nil {
		reason = health.Reason(err)
		k.Log.Warn("remote sandboxes that were left behind cannot be looked for", zap.String("provider", k.Provider.Name()), zap.Error(err), zap.String("says", says(err)))
	}
	k.mu.Lock()
	k.unlisted = reason
	var orphans []string
	for _, f := range found {
		if _, known := k.doomed[f.ID]; !known && !k.runs[f.Run] {
			orphans = append(orphans, f.ID)
		}
	}
	k.mu.Unlock()
	k.tell()
	for _, id := range orphans {
		k.Log.Info("a remote sandbox that was left behind is deleted", zap.String("provider", k.Provider.Name()), zap.String("sandbox", id))
		k.doom(id)
	}
}

// tell says how the provider is.
func (k *keeper) tell() {
	if k.Tell == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock() // told in order
	reason := k.unlisted
	for _, why := range k.failing {
		reason = why
	}
	k.Tell(len(k.failing), reason)
}

// close ends the keeper's work.
func (k *keeper) close() {
	k.mu.Lock()
	waiting := make([]chan struct{}, 0, len(k.doomed))
	for _, done := range k.doomed {
		waiting = append(waiting, done)
	}
	k.mu.Unlock()
	timer := time.NewTimer(closeTime)
	defer timer.Stop()
	for _, done := range waiting {
		select {
		case <-done:
			continue
		case <-timer.C:
		}
		break
	}
	k.mu.Lock()
	if n := len(k.doomed); n > 0 {
		k.Log.Warn("remote sandboxes were not deleted; the next start looks for them", zap.String("provider", k.Provider.Name()), zap.Int("sandboxes", n))
	}
	k.stop() // nothing is doomed any more
	k.mu.Unlock()
	k.work.Wait()
}
