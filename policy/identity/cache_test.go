package identity

import (
	"encoding/binary"
	"fmt"
	"sync"
	"testing"

	"github.com/svc-gateway/svc/policy"
)

func TestCacheBelongsToOneRevision(t *testing.T) {
	var c cache
	was := &verified{principal: policy.Principal{User: "bob", TokenID: "0a"}}
	c.advance(3)
	c.put(Hash{1}, was, 3)
	c.putID(was, 3)
	if c.hash(Hash{1}) != was || c.id("0a") != was || c.hash(Hash{2}) != nil || c.id("0b") != nil || c.id("") != nil {
		t.Error("what was put is not found")
	}
	c.advance(2) // late news
	if c.hash(Hash{1}) != was {
		t.Error("older news emptied the cache")
	}
	c.advance(4)
	if c.hash(Hash{1}) != nil || c.id("0a") != nil {
		t.Error("what belongs to an earlier revision is found")
	}
	c.put(Hash{1}, was, 3) // was read before the move
	if c.hash(Hash{1}) != nil {
		t.Error("an earlier answer got in after the move")
	}
	is := &verified{}
	c.put(Hash{1}, is, 4)
	c.put(Hash{65}, was, 3) // of the same shard
	if c.hash(Hash{1}) != is || c.hash(Hash{65}) != nil {
		t.Error("an earlier answer displaced a present one")
	}
}

func TestCacheIsBounded(t *testing.T) {
	var c cache
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := w; i < 2*cacheSize; i += 4 {
				var h Hash
				binary.LittleEndian.PutUint32(h[:], uint32(i))
				c.put(h, &verified{}, 0)
				c.putID(&verified{principal: policy.Principal{TokenID: fmt.Sprintf("%012x", uint32(i)*2654435761)}}, 0)
			}
		})
	}
	wg.Wait()
	hashes, ids := 0, 0
	for i := range shards {
		hashes += len(c.byHash[i].m)
		ids += len(c.byID[i].m)
	}
	if hashes != cacheSize || ids > cacheSize {
		t.Errorf("got %d hashes and %d ids, want at most %d", hashes, ids, cacheSize)
	}
}

// Ids are hexadecimal: they have to reach all shards, or the cache is smaller than it says.
func TestIDsSpread(t *testing.T) {
	used := map[int]int{}
	for i := range 1 << 16 {
		used[place(fmt.Sprintf("%04x", i))]++
	}
	if len(used) != shards {
		t.Errorf("got %d of %d shards used", len(used), shards)
	}
}
