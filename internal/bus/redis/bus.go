package redis

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/internal/settings"
)

// kind is what Health calls this implementation.
const kind = "redis"

// Options are what opening a bus needs beside its settings.
type Options struct {
	// Env finds the environment variables that hold passwords; os.LookupEnv.
	Env func(string) (string, bool)
	// Trouble hears when the bus is cut off, and why, and with nil when it is no longer. It is
	// called once each, never concurrently, and must not call the bus. Default: nobody hears.
	Trouble func(error)
}

// Bus is a bus.Bus in a Redis. Get one with [Open] and close it.
type Bus struct {
	client  goredis.UniversalClient
	prefix  string
	timeout time.Duration

	local    *bus.Memory // counts while the server is away
	keeper   *keeper
	listener *listener
	outbox   *outbox
	cleared  cleared

	stop context.CancelFunc
	work sync.WaitGroup
	once sync.Once
}

// Open connects to the Redis of the settings. One that cannot be reached is no error: Health says
// so, and the bus connects when it can. Errors are those of certificates and passwords.
func Open(ctx context.Context, s settings.Bus, o Options) (*Bus, error) {
	client, err := newClient(s, o.Env)
	if err != nil {
		return nil, fmt.Errorf("opening the live bus: %w", err)
	}
	b := &Bus{
		client: client, prefix: s.Prefix, timeout: s.Timeout, local: bus.NewMemory(),
	}
	b.keeper = newKeeper(b.probe, s.Timeout, o.Trouble)
	// Channels are not of a database as keys are.
	channels := fmt.Sprintf("%stopic:%d:", s.Prefix, s.Database)
	id := rand.Text()
	b.listener = newListener(client, b.keeper, s.Timeout, channels, id)
	b.outbox = newOutbox(client, b.keeper, s.Timeout, channels, id)

	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	b.stop = stop
	first := make(chan struct{})
	b.work.Go(func() { b.listener.run(background, first) })
	b.keeper.check(ctx)
	b.work.Go(func() { b.keeper.run(background) })
	b.work.Go(func() { b.outbox.run(background) })
	select { // so that a bus that works does so from the beginning
	case <-first:
	case <-time.After(s.Timeout):
	case <-ctx.Done():
	}
	return b, nil
}

// Close sends what is waiting, as far as the server takes it within the time of one operation, and
// closes the connections. Subscriptions receive nothing any more and stay open.
func (b *Bus) Close() error {
	err := goredis.ErrClosed
	b.once.Do(func() {
		b.outbox.drain()
		b.stop()
		b.listener.close()
		b.work.Wait()
		err = b.client.Close()
	})
	if errors.Is(err, goredis.ErrClosed) {
		return nil
	}
	return err
}

// Health implements bus.Bus.
func (b *Bus) Health() bus.Health { return b.keeper.health() }

// Publish implements bus.Bus. Others hear soon after it returns.
func (b *Bus) Publish(ctx context.Context, topic string, message []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b.listener.local(topic, message)
	b.outbox.put(topic, message)
	return nil
}

// Subscribe implements bus.Bus. It waits until the server has confirmed, for the time of one
// operation at most; while the server is away it does not wait, and Lost tells when that is over.
func (b *Bus) Subscribe(topic string) *bus.Subscription { return b.listener.subscribe(topic) }

var _ bus.Bus = (*Bus)(nil)
