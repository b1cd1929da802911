package redis

import (
	"context"
	"errors"
	"fmt"
	"sync"

	goredis "github.com/redis/go-redis/v9"
)

// probed is the key that probes work on, and the channel that nobody listens to.
const probed = "probe"

// spread is how many keys a probe of a cluster writes, so that most of its servers get one.
const spread = 16

// probe does once what the bus needs of the server: a permission that is missing is found before
// somebody needs it. What was to be cleared while the server was away is cleared first.
func (b *Bus) probe(ctx context.Context) error {
	if err := b.clearLate(ctx); err != nil {
		return err
	}
	cluster, isCluster := b.client.(*goredis.ClusterClient)
	if isCluster {
		err := cluster.ForEachMaster(ctx, func(ctx context.Context, c *goredis.Client) error { return c.Ping(ctx).Err() })
		if err != nil {
			return err
		}
	}
	lease, room, counter := b.leaseKeys(probed), []string{b.roomKey(probed)}, []string{b.counterKey(probed)}
	done, _ := b.client.Pipelined(ctx, func(p goredis.Pipeliner) error { // each has its own error
		for _, cmd := range []*goredis.Cmd{
			leaseScript.whole(ctx, lease, probed, 1000),
			releaseScript.whole(ctx, lease[:1], probed),
			enterScript.whole(ctx, room, probed, 1, 1000),
			countScript.whole(ctx, counter, 1, 1000),
			countScript.byHash(ctx, counter, 1, 1000),
			takeScript.whole(ctx, []string{b.bucketKey(probed)}, 1, 1000),
			goredis.NewCmd(ctx, "hget", lease[0], "holder"),
			goredis.NewCmd(ctx, "zrem", room[0], probed),
			goredis.NewCmd(ctx, "del", counter[0]),
			goredis.NewCmd(ctx, "publish", b.outbox.channels+probed, ""),
		} {
			if err := p.Process(ctx, cmd); err != nil {
				return err
			}
		}
		if !isCluster {
			return nil
		}
		for i := range spread {
			if err := p.Process(ctx, countScript.whole(ctx, []string{b.counterKey(fmt.Sprintf("{%d}", i))}, 1, 1000)); err != nil {
				return err
			}
		}
		return nil
	})
	for _, cmd := range done {
		if err := cmd.Err(); err != nil && !errors.Is(err, goredis.Nil) {
			return err
		}
	}
	return nil
}

// maxCleared is how many counters that were cleared while the server was away are remembered.
const maxCleared = 4096

// cleared are counters that are to be cleared when the server is back. Its zero value is ready.
type cleared struct {
	mu   sync.Mutex
	keys map[string]struct{}
}

func (c *cleared) add(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.keys == nil {
		c.keys = make(map[string]struct{})
	}
	if len(c.keys) < maxCleared {
		c.keys[key] = struct{}{}
	}
}

func (c *cleared) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	keys := make([]string, 0, len(c.keys))
	for k := range c.keys {
		keys = append(keys, k)
	}
	c.keys = nil
	return keys
}

// clearLate makes good what could not be cleared.
func (b *Bus) clearLate(ctx context.Context) error {
	keys := b.cleared.take()
	if len(keys) == 0 {
		return nil
	}
	_, err := b.client.Pipelined(ctx, func(p goredis.Pipeliner) error {
		for _, k := range keys {
			p.Del(ctx, k)
		}
		return nil
	})
	if err != nil {
		for _, k := range keys {
			b.cleared.add(k)
		}
	}
	return err
}
