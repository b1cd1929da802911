package redis

import (
	"context"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

const (
	maxWaiting = 4096    // messages that wait to be sent
	maxBytes   = 4 << 20 // of them altogether
	maxBatch   = 256     // that are sent in one go
)

// outbox sends messages to the other processes in the order of the calls. Those that cannot be sent
// are dropped, and everybody is told as soon as that is possible.
type outbox struct {
	client   goredis.UniversalClient
	keeper   *keeper
	timeout  time.Duration
	channels string // begins the name of every topic's channel
	id       string // begins every message of this process

	mu      sync.Mutex
	waiting []outgoing
	bytes   int
	misses  int           // how often others came to miss a message
	told    int           // up to which of them they know it
	closing chan struct{} // set by drain, closed when nothing is left
	wake    chan struct{}
}

type outgoing struct {
	channel string
	payload []byte
}

func newOutbox(client goredis.UniversalClient, k *keeper, timeout time.Duration, channels, id string) *outbox {
	o := &outbox{client: client, keeper: k, timeout: timeout, channels: channels, id: id, wake: make(chan struct{}, 1)}
	k.back = o.poke
	return o
}

func (o *outbox) poke() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// put queues a message.
func (o *outbox) put(topic string, message []byte) {
	payload := append(append(make([]byte, 0, len(o.id)+len(message)), o.id...), message...)
	o.mu.Lock()
	if o.closing != nil || len(o.waiting) >= maxWaiting || o.bytes+len(payload) > maxBytes {
		o.misses++
	} else {
		o.waiting = append(o.waiting, outgoing{o.channels + topic, payload})
		o.bytes += len(payload)
	}
	o.mu.Unlock()
	o.poke()
}

// take removes messages that are to be sent now. misses says how far others must know first that
// something is missing; 0 is nothing to tell.
func (o *outbox) take() (batch []outgoing, misses int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := min(len(o.waiting), maxBatch)
	batch = o.waiting[:n:n]
	o.waiting = o.waiting[n:]
	for _, m := range batch {
		o.bytes -= len(m.payload)
	}
	if len(o.waiting) == 0 {
		o.waiting = nil
	}
	if o.misses == o.told {
		return batch, 0
	}
	return batch, o.misses
}

// run sends until ctx ends.
func (o *outbox) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.wake:
		}
		for {
			batch, misses := o.take()
			if len(batch) == 0 && misses == 0 {
				break
			}
			if err := o.send(ctx, batch, misses); err != nil {
				break // the keeper wakes us
			}
		}
		o.mu.Lock()
		if o.closing != nil && len(o.waiting) == 0 {
			close(o.closing)
			o.mu.Unlock()
			return
		}
		o.mu.Unlock()
	}
}

// send publishes messages. Those of which it is not known whether they were sent count as lost.
func (o *outbox) send(ctx context.Context, batch []outgoing, misses int) error {
	err := o.keeper.away(false)
	if err == nil {
		inTime, cancel := context.WithTimeout(ctx, o.timeout)
		defer cancel()
		_, err = o.client.Pipelined(inTime, func(p goredis.Pipeliner) error {
			if misses > 0 {
				batch = append([]outgoing{{o.channels, []byte(o.id)}}, batch...)
			}
			for _, m := range batch {
				if err := p.Process(inTime, once{goredis.NewCmd(inTime, "publish", m.channel, m.payload)}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil && ctx.Err() == nil {
			err = o.keeper.suspect(err)
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case err != nil:
		o.misses++
	case misses > 0:
		o.told = misses
	}
	return err
}

// drain sends what is waiting, for the time of one operation at most. It is called once.
func (o *outbox) drain() {
	done := make(chan struct{})
	o.mu.Lock()
	o.closing = done
	o.mu.Unlock()
	o.poke()
	select {
	case <-done:
	case <-time.After(o.timeout):
	}
}
