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
	for i := range byte(255) {
		c.put(Hash{i, 1}, was, 3) // some are of the same shard
	}
	if c.hash(Hash{1}) != is || c.hash(Hash{7, 1}) != nil {
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
	if hashes > cacheSize || hashes < cacheSize*9/10 || ids > cacheSize || ids < cacheSize*9/10 {
		t.Errorf("got %d hashes and %d ids, want about %d and no more", hashes, ids, cacheSize)
	}
}

func TestCacheOfAccounts(t *testing.T) {
	var c cache
	local, ext := &account{User: User{Name: "bob"}}, &account{User: User{Name: "eve", Link: Link{"ldap", "", "1"}}}
	c.putAccount(local, 0)
	c.putAccount(ext, 0)
	if c.name("bob") != local || c.name("eve") != ext || c.link(ext.Link) != ext || c.link(Link{}) != nil {
		t.Error("what was put is not found, or a local account by its empty link")
	}
	c.advance(1)
	if c.name("bob") != nil || c.link(ext.Link) != nil {
		t.Error("what belongs to an earlier revision is found")
	}
}
