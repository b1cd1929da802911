package memory

import (
	"context"
	"errors"
	"sync"
	"time"
)

// What a queue holds.
const (
	perOwner = 32  // jobs of a user that wait
	waiting  = 512 // jobs of all users that wait
	parallel = 4   // jobs of different users that are done side by side
	jobTime  = 2 * time.Minute
)

var (
	errClosing = errors.New("the service stops")
	errCleared = errors.New("the user had everything forgotten meanwhile")
)

// Queue does what comes after agents' answers: for each user in order, for different users side by side. The
// zero value is ready for use. One queue outlives the keepers that use it.
type Queue struct {
	mu     sync.Mutex
	lanes  map[string][]func(context.Context) // a lane is there as long as somebody works on it
	held   int
	closed bool
	seats  chan struct{}
	base   context.Context
	cancel context.CancelCauseFunc
	done   sync.WaitGroup

	keeping sync.RWMutex   // held while something is kept, and alone while all of an owner is forgotten
	clears  map[string]int // how often all of an owner was forgotten
}

// cleared is how often all of an owner was forgotten.
func (q *Queue) cleared(owner string) int {
	q.keeping.RLock()
	defer q.keeping.RUnlock()
	return q.clears[owner]
}

// keep does what keeps something for an owner that was seen when they had been cleared so often. After another
// time nothing is done: it would bring back what was forgotten.
func (q *Queue) keep(owner string, cleared int, do func() error) error {
	q.keeping.RLock()
	defer q.keeping.RUnlock()
	if q.clears[owner] != cleared {
		return errCleared
	}
	return do()
}

// clear does what forgets all of an owner.
func (q *Queue) clear(owner string, do func() error) error {
	q.keeping.Lock()
	defer q.keeping.Unlock()
	if q.clears == nil {
		q.clears = map[string]int{}
	}
	q.clears[owner]++
	return do()
}

// Add has a job done when its turn comes. It reports false when too many wait, or the queue is closed. The
// job's context ends after two minutes.
func (q *Queue) Add(owner string, job func(context.Context)) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.held == waiting || len(q.lanes[owner]) == perOwner {
		return false
	}
	if q.lanes == nil {
		q.lanes, q.seats = map[string][]func(context.Context){}, make(chan struct{}, parallel)
		q.base, q.cancel = context.WithCancelCause(context.Background())
	}
	jobs, busy := q.lanes[owner]
	q.lanes[owner] = append(jobs, job)
	q.held++
	if !busy {
		q.done.Go(func() { q.work(owner) })
	}
	return true
}

// take is the next job of a user; without one the lane is gone.
func (q *Queue) take(owner string) func(context.Context) {
	q.mu.Lock()
	defer q.mu.Unlock()
	jobs := q.lanes[owner]
	if len(jobs) == 0 {
		delete(q.lanes, owner)
		return nil
	}
	q.lanes[owner] = jobs[1:]
	q.held--
	return jobs[0]
}

func (q *Queue) work(owner string) {
	q.seats <- struct{}{}
	defer func() { <-q.seats }()
	for job := q.take(owner); job != nil; job = q.take(owner) {
		if q.base.Err() != nil {
			continue // there is no time left
		}
		ctx, cancel := context.WithTimeout(q.base, jobTime)
		job(ctx)
		cancel()
	}
}

// Close takes no more jobs, and waits for those that it has as long as ctx lasts. Then their time is over,
// too.
func (q *Queue) Close(ctx context.Context) {
	q.mu.Lock()
	q.closed = true
	cancel := q.cancel
	q.mu.Unlock()
	if cancel == nil {
		return // nothing was ever added
	}
	stop := context.AfterFunc(ctx, func() { cancel(errClosing) })
	defer stop()
	q.done.Wait()
	cancel(errClosing)
}
