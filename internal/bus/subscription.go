package bus

import "sync"

// Buffer is how many messages a Subscription holds for a subscriber that is busy.
const Buffer = 64

// Subscription is one subscriber's end of a topic.
type Subscription struct {
	c     chan []byte
	leave func()

	mu     sync.Mutex
	lost   bool
	closed bool
}

// NewSubscription is for implementations of Bus: they call Deliver for each message. leave is called
// once, by Close, before the channel is closed; it must make sure that the bus forgets the
// subscription, and may be nil.
func NewSubscription(leave func()) *Subscription {
	return &Subscription{c: make(chan []byte, Buffer), leave: leave}
}

// C returns the channel of messages. It is closed by Close. A nil message comes where messages may
// be missing, so that the subscriber asks Lost.
func (s *Subscription) C() <-chan []byte { return s.c }

// Lost reports, once, that messages were dropped since it was last asked, because the subscriber
// did not keep up or the bus was cut off.
func (s *Subscription) Lost() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	lost := s.lost
	s.lost = false
	return lost
}

// Deliver gives the subscriber a message. When Buffer messages are waiting, the oldest is dropped.
// After Close it does nothing.
func (s *Subscription) Deliver(message []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	for {
		select {
		case s.c <- message:
			return
		default:
		}
		select {
		case <-s.c:
			s.lost = true
		default: // the subscriber has just made room
		}
	}
}

// Miss records that messages may be missing, for a bus that was cut off from its peers. A
// subscriber that waits is woken by a nil message.
func (s *Subscription) Miss() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.lost = true
	select {
	case s.c <- nil:
	default: // it has messages to wake up for
	}
}

// Close ends the subscription. A second Close does nothing.
func (s *Subscription) Close() {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.closed = true
	s.mu.Unlock()
	if s.leave != nil {
		s.leave()
	}
	close(s.c) // Deliver has seen closed, or is done
}
