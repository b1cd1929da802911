package identity

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/policy"
)

// TopicChanges is the bus topic on which every change of users, tokens and sessions is announced.
// Streams listen to it and resolve their principal again. The message is the new revision, in
// decimal.
const TopicChanges = "identity"

// Recorder is the audit log as this package uses it; *audit.Log is one.
type Recorder interface {
	Record(ctx context.Context, e ...audit.Event) error // durable when it returns
	Queue(ctx context.Context, e ...audit.Event) error
}

// Service verifies tokens, keeps sessions and manages users. Make it with [New] and close it.
type Service struct {
	store Store
	log   Recorder
	bus   bus.Bus
	cache cache

	changing sync.Mutex // one change at a time in this process
	locking  sync.Mutex // one lockout at a time
	turns    turns      // of passwords to be tried
	checks   throttle   // of those that are being tried
	openings throttle   // of sessions that are being opened

	addresses addresses

	started  time.Time     // what checked counts from, on the monotonic clock
	checked  atomic.Int64  // when the cache's revision was read from the store last
	checking chan struct{} // capacity 1: held while the revision is read
	unheard  chan struct{} // capacity 1: a revision that was not announced here

	used    usage
	sources atomic.Pointer[sources] // nil until [Service.SetSources] is called
	seal    sealer

	tokenless atomic.Bool // see [Service.AcceptTokens]

	certificates atomic.Pointer[func(issuer, subject string) policy.Role] // see [Service.AcceptCertificates]

	renewing singleflight.Group // by session

	close context.CancelFunc
	done  chan struct{}
}

// Option changes how a [Service] works.
type Option func(*Service)

// WithKey encrypts the secrets of identity providers' sessions with the key in the file at path,
// which is made, with mode 0600, when the first one is stored. Without it the key is lost with
// the Service, and such sessions end when they are to be renewed.
func WithKey(path string) Option { return func(s *Service) { s.seal.path = path } }

// New serves users and tokens out of a store, which it closes at [Service.Close]; when it fails,
// closing the store is the caller's. The caller closes the Service before the log and the bus.
func New(ctx context.Context, st Store, log Recorder, b bus.Bus, options ...Option) (*Service, error) {
	s := &Service{
		store:    st,
		log:      log,
		bus:      b,
		started:  time.Now(),
		checks:   newThrottle(),
		openings: newThrottle(),
		checking: make(chan struct{}, 1),
		unheard:  make(chan struct{}, 1),
		done:     make(chan struct{}),
	}
	for _, o := range options {
		o(s)
	}
	revision, err := st.Revision(ctx)
	if err != nil {
		return nil, fmt.Errorf("opening identity: %w", err)
	}
	s.cache.advance(revision)
	changes := b.Subscribe(TopicChanges)
	background, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.close = cancel
	go s.follow(background, changes)
	return s, nil
}

// Close writes down when tokens were last used and closes the store. The Service must not be
// used afterwards.
func (s *Service) Close() error {
	s.close()
	<-s.done
	return s.store.Close()
}

// follow hears of changes made elsewhere, writes down what was used and forgets old sessions,
// until ctx ends.
func (s *Service) follow(ctx context.Context, changes *bus.Subscription) {
	defer close(s.done)
	defer changes.Close()
	ticker := time.NewTicker(usageInterval)
	defer ticker.Stop()
	prune := time.NewTicker(pruneInterval)
	defer prune.Stop()
	messages := changes.C()
	s.prune(ctx)
	var late <-chan time.Time // nil unless changes may go unheard
	for {
		if late == nil && s.deaf() {
			late = time.After(maxStale)
		}
		select {
		case message, open := <-messages:
			if !open { // the bus is closed; what changes is noticed within a second still
				messages = nil
				continue
			}
			if changes.Lost() { // announcements, perhaps
				s.look(ctx)
				continue
			}
			s.hear(message)
		case <-s.unheard:
			s.publish(ctx, s.cache.revision.Load())
		case <-late:
			late = nil
			s.look(ctx)
		case <-ticker.C:
			s.writeUsage(ctx)
		case <-prune.C:
			s.prune(ctx)
		case <-ctx.Done():
			s.writeUsage(context.WithoutCancel(ctx))
			return
		}
	}
}

const (
	pruneInterval = time.Hour
	keptEnded     = 24 * time.Hour // how long sessions can be told from unknown ones after their end
)

// prune forgets sessions that are over. Where that fails the next time does it.
func (s *Service) prune(ctx context.Context) {
	_ = s.store.PruneSessions(ctx, time.Now().Add(-keptEnded))
}

// hear moves the cache to an announced revision. What cannot be read makes the next look-up
// ask the store.
func (s *Service) hear(message []byte) {
	revision, err := strconv.ParseInt(string(message), 10, 64)
	if err != nil {
		s.checked.Store(-int64(maxStale))
		return
	}
	s.cache.advance(revision)
}

// deaf reports whether changes may be made elsewhere without being heard of here.
func (s *Service) deaf() bool { return !s.bus.Health().Connected }

// look moves the cache to the revision that the store has now. Where that cannot be read the next
// look-up tries.
func (s *Service) look(ctx context.Context) {
	s.checked.Store(-int64(maxStale))
	_ = s.fresh(ctx, time.Now())
}

// learn moves the cache to a revision that the store has. One that was not announced here so far
// will be, so that streams learn of it too.
func (s *Service) learn(revision int64) {
	if !s.cache.advance(revision) {
		return
	}
	select {
	case s.unheard <- struct{}{}:
	default:
	}
}

// announce moves this process and, over the bus, all others to a new revision.
func (s *Service) announce(ctx context.Context, revision int64) {
	s.cache.advance(revision)
	s.publish(ctx, revision)
}

// publish tells everybody of a revision. Where the message gets lost it is noticed within a second
// all the same: it must not fail a change that has been made.
func (s *Service) publish(ctx context.Context, revision int64) {
	_ = s.bus.Publish(context.WithoutCancel(ctx), TopicChanges, strconv.AppendInt(nil, revision, 10))
}
