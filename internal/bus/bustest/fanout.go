package bustest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/svc-gateway/svc/internal/bus"
)

func receive(t *testing.T, s *bus.Subscription) string {
	t.Helper()
	select {
	case m, ok := <-s.C():
		if !ok {
			t.Fatal("the channel is closed")
		}
		return string(m)
	case <-time.After(patience):
		t.Fatal("no message came")
		return ""
	}
}

func send(t *testing.T, b bus.Bus, topic, message string) {
	t.Helper()
	if err := b.Publish(t.Context(), topic, []byte(message)); err != nil {
		t.Fatal(err)
	}
}

func publish(t *testing.T, b bus.Bus) {
	one, two, other := b.Subscribe("topic"), b.Subscribe("topic"), b.Subscribe("other")
	defer one.Close()
	defer two.Close()
	defer other.Close()
	send(t, b, "nobody listens", "x")
	send(t, b, "topic", "hello")
	send(t, b, "other", "there")
	for s, want := range map[*bus.Subscription]string{one: "hello", two: "hello", other: "there"} {
		if got := receive(t, s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if s.Lost() {
			t.Error("Lost without a loss")
		}
	}
}

func order(t *testing.T, b bus.Bus) {
	s := b.Subscribe("topic")
	defer s.Close()
	for i := range 2 * bus.Buffer {
		send(t, b, "topic", fmt.Sprint(i))
		if got := receive(t, s); got != fmt.Sprint(i) {
			t.Fatalf("got %q, want %d", got, i)
		}
	}
}

func slow(t *testing.T, b bus.Bus) {
	s := b.Subscribe("topic")
	defer s.Close()
	const n = 3 * bus.Buffer
	for i := range n {
		send(t, b, "topic", fmt.Sprint(i))
	}
	var got []string
	for len(got) == 0 || got[len(got)-1] != fmt.Sprint(n-1) {
		got = append(got, receive(t, s))
	}
	if !s.Lost() {
		t.Error("messages were dropped and Lost is false")
	}
	if s.Lost() {
		t.Error("Lost is true a second time")
	}
	if len(got) > n-1 {
		t.Errorf("got all %d messages, want at most %d waiting", len(got), bus.Buffer)
	}
}

func closing(t *testing.T, b bus.Bus) {
	s := b.Subscribe("topic")
	s.Close()
	s.Close()
	send(t, b, "topic", "late")
	select {
	case m, ok := <-s.C():
		if ok {
			t.Errorf("got %q after Close", m)
		}
	case <-time.After(patience):
		t.Error("the channel is open after Close")
	}
}

func concurrent(t *testing.T, b bus.Bus) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				s := b.Subscribe("topic")
				if err := b.Publish(t.Context(), "topic", []byte("x")); err != nil {
					t.Error(err)
				}
				s.Close()
			}
		})
	}
	wg.Wait()
}
