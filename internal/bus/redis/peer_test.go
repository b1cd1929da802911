package redis_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svc-gateway/svc/internal/bus/redistest"
)

// Two processes on one server, each with a bus of its own.
func TestPeers(t *testing.T) {
	s := redistest.New(t)
	here, _ := open(t, s.Bus())
	there, _ := open(t, s.Bus())
	apart := s.Bus()
	apart.Database = 1 // channels are not of a database by themselves
	foreign, _ := open(t, apart)
	stranger := foreign.Subscribe("topic")
	defer stranger.Close()

	mine, theirs := here.Subscribe("topic"), there.Subscribe("topic")
	defer mine.Close()
	defer theirs.Close()
	for i := range 20 {
		send(t, here, fmt.Sprint("here ", i))
		heard(t, mine, fmt.Sprint("here ", i)) // once: what comes next is another
		heard(t, theirs, fmt.Sprint("here ", i))
	}
	send(t, there, "there")
	heard(t, mine, "there")
	heard(t, theirs, "there")
	if mine.Lost() || theirs.Lost() {
		t.Error("Lost without a loss")
	}
	if len(stranger.C()) > 0 {
		t.Errorf("got %q from another database", <-stranger.C())
	}

	if _, _, err := here.Count(t.Context(), "k", 2, time.Minute); err != nil {
		t.Error(err)
	}
	if n, _, err := there.Count(t.Context(), "k", 1, time.Minute); n != 3 || err != nil {
		t.Errorf("got a total of %d, %v, want 3", n, err)
	}
	if n, _, err := foreign.Count(t.Context(), "k", 1, time.Minute); n != 1 || err != nil {
		t.Errorf("got a total of %d, %v in another database, want 1", n, err)
	}
	if token, err := here.Lease(t.Context(), "k", "here", time.Minute); token == 0 || err != nil {
		t.Errorf("got %d, %v", token, err)
	}
	if token, err := there.Lease(t.Context(), "k", "there", time.Minute); token != 0 || err != nil {
		t.Errorf("got the token %d, %v of a lease that another has", token, err)
	}
}

// Order is kept from process to process, and what a subscriber misses it is told of.
func TestOrderAcross(t *testing.T) {
	s := redistest.New(t)
	here, _ := open(t, s.Bus())
	there, _ := open(t, s.Bus())
	sub := there.Subscribe("topic")
	defer sub.Close()
	const n = 3000
	go func() {
		for i := range n {
			_ = here.Publish(t.Context(), "topic", fmt.Append(nil, i))
		}
	}()
	last, missing, lost := -1, 0, false
	for last < n-1 {
		select {
		case m := <-sub.C():
			lost = sub.Lost() || lost
			if m == nil {
				continue
			}
			var i int
			if _, err := fmt.Sscan(string(m), &i); err != nil || i <= last {
				t.Fatalf("got %q after %d", m, last)
			}
			missing += i - last - 1
			last = i
		case <-time.After(patience):
			t.Fatalf("nothing after %d", last)
		}
	}
	if missing > 0 && !lost && !sub.Lost() {
		t.Errorf("%d messages are missing, and Lost is false", missing)
	}
}

// A publisher that cannot send says so to those that could have heard.
func TestPublisherCutOff(t *testing.T) {
	s := redistest.New(t, "user svc on >open-sesame ~* &* +@all")
	settings := s.Bus()
	settings.User, settings.Password = "svc", "{env.RIGHT}"
	here, reports := open(t, settings)
	there, _ := open(t, s.Bus())
	sub := there.Subscribe("topic")
	defer sub.Close()
	tell(t, s, "acl setuser svc -publish")
	send(t, here, "nobody hears this")
	cutOff(t, here, reports, "permission")
	send(t, here, "nor this")
	tell(t, s, "acl setuser svc +publish")
	back(t, here, reports)
	lost(t, sub)
	send(t, here, "but this")
	heard(t, sub, "but this")
}

// What was said right before the end is heard.
func TestCloseSendsWhatWaits(t *testing.T) {
	s := redistest.New(t)
	here, _ := open(t, s.Bus())
	there, _ := open(t, s.Bus())
	sub := there.Subscribe("topic")
	defer sub.Close()
	for i := range 50 {
		send(t, here, fmt.Sprint(i))
	}
	if err := here.Close(); err != nil {
		t.Error(err)
	}
	for i := range 50 {
		heard(t, sub, fmt.Sprint(i))
	}
	if err := here.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}

// A topic that everybody has left and somebody comes to again, over and over.
func TestComingAndGoing(t *testing.T) {
	s := redistest.New(t)
	here, _ := open(t, s.Bus())
	there, _ := open(t, s.Bus())
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 50 {
				sub := there.Subscribe("topic")
				want := fmt.Sprintf("%d/%d", w, i)
				send(t, here, want)
				for got := ""; got != want; {
					select {
					case m := <-sub.C():
						got = string(m)
					case <-time.After(patience):
						t.Errorf("waited for %q in vain", want)
						got = want
					}
				}
				sub.Close()
			}
		})
	}
	wg.Wait()
}

// cutter is a way to a server on which an answer can get lost.
type cutter struct {
	address string
	doomed  atomic.Pointer[string] // the first request with this in it gets no answer
}

func newCutter(t *testing.T, to string) *cutter {
	t.Helper()
	dir, err := os.MkdirTemp("", "svc-cutter")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{address: filepath.Join(dir, "s")}
	ln, err := net.Listen("unix", c.address)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	t.Cleanup(func() {
		ln.Close()
		wg.Wait()
		os.RemoveAll(dir)
	})
	wg.Go(func() {
		for {
			client, err := ln.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("unix", to)
			if err != nil {
				client.Close()
				continue
			}
			var cut atomic.Bool
			wg.Go(func() {
				defer server.Close()
				relay(server, client, func(request []byte) bool {
					if word := c.doomed.Load(); word != nil && bytes.Contains(request, []byte(*word)) {
						c.doomed.Store(nil)
						cut.Store(true)
					}
					return true
				})
			})
			wg.Go(func() {
				defer client.Close()
				relay(client, server, func([]byte) bool { return !cut.Load() })
			})
		}
	})
	return c
}

// relay copies as long as what comes passes.
func relay(to io.Writer, from io.Reader, passes func([]byte) bool) {
	for buf := make([]byte, 4096); ; {
		n, err := from.Read(buf)
		if err != nil || !passes(buf[:n]) {
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

func (c *cutter) lose(word string) { c.doomed.Store(&word) }

// An answer gets lost. What may be done twice is sent again and works; what counts is not, and
// this process counts it.
func TestLostAnswer(t *testing.T) {
	s := redistest.New(t)
	c := newCutter(t, s.Address)
	settings := s.Bus()
	settings.Address = []string{c.address}
	b, _ := open(t, settings)
	direct, _ := open(t, s.Bus())

	c.lose("}:k\r\n")
	if token, err := b.Lease(t.Context(), "k", "a", time.Minute); token == 0 || err != nil {
		t.Errorf("Lease: got %d, %v, want it to be sent again", token, err)
	}
	c.lose("svc:count:k")
	if n, _, err := b.Count(t.Context(), "k", 1, time.Minute); n != 1 || err != nil {
		t.Errorf("Count: got %d, %v, want 1, of this process", n, err)
	}
	if n, _, err := direct.Count(t.Context(), "k", 0, time.Minute); n != 1 || err != nil {
		t.Errorf("the server has counted %d, %v, want 1", n, err)
	}
	await(t, "the bus is connected", func() bool { return b.Health().Connected })
	c.lose("svc:bucket:k")
	if g, err := b.Take(t.Context(), "k", 10, time.Hour); !g.OK || g.Left != 9 || err != nil {
		t.Errorf("Take: got %+v, %v, want the first token, of this process", g, err)
	}
	if g, err := direct.Take(t.Context(), "k", 10, time.Hour); g.Left != 8 || err != nil {
		t.Errorf("the server says %+v, %v, want 8 left", g, err)
	}
}
