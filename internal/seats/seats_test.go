package seats_test

import (
	"sync"
	"testing"

	"github.com/svc-gateway/svc/internal/seats"
)

func TestSeats(t *testing.T) {
	var s seats.Seats
	first, ok := s.Take("ada", 2)
	_, also := s.Take("ada", 2)
	if _, third := s.Take("ada", 2); !ok || !also || third {
		t.Errorf("got %t, %t and %t, want two seats", ok, also, third)
	}
	if _, ok := s.Take("bob", 2); !ok {
		t.Error("another user has no seat")
	}
	first()
	if _, ok := s.Take("ada", 2); !ok {
		t.Error("a seat that was given back is not free")
	}
	if _, ok := s.Take("ada", 2); ok {
		t.Error("one was given back and two taken")
	}
}

// However many come and go, nobody is ever refused who has room, and all seats are free in the end.
func TestSeatsOfMany(t *testing.T) {
	var s seats.Seats
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for range 500 {
				leave, ok := s.Take("ada", 20)
				if !ok {
					t.Error("there is no seat for one of 20")
					return
				}
				leave()
			}
		})
	}
	all.Wait()
	if _, ok := s.Take("ada", 1); !ok {
		t.Error("seats are still taken")
	}
}
