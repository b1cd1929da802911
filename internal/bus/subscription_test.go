package bus_test

import (
	"fmt"
	"testing"

	"github.com/svc-gateway/svc/internal/bus"
)

// Somebody who waits for messages must learn that there were some.
func TestMissWakes(t *testing.T) {
	s := bus.NewSubscription(nil)
	s.Miss()
	if m, ok := <-s.C(); m != nil || !ok || !s.Lost() || s.Lost() {
		t.Errorf("got %q, %v, want a nil message and Lost once", m, ok)
	}
	for i := range bus.Buffer {
		s.Deliver([]byte(fmt.Sprint(i)))
	}
	s.Miss() // must neither wait nor drop one
	if !s.Lost() {
		t.Error("Lost is false")
	}
	for i := range bus.Buffer {
		if got := string(<-s.C()); got != fmt.Sprint(i) {
			t.Errorf("got %q, want %d", got, i)
		}
	}
	s.Close()
	s.Miss()
	if _, ok := <-s.C(); ok {
		t.Error("a message after Close")
	}
}
