package post

import (
	"net/url"
	"strings"

	"go.uber.org/zap"
)

// queued is a message with the id that it has in each attempt.
type queued struct {
	id   string
	body []byte
	Message
}

// lane names the queue of a message: that of its host.
func (m Message) lane() string {
	u, err := url.Parse(m.URL)
	if err != nil {
		return "" // it will not be sent
	}
	return strings.ToLower(u.Host)
}

// queue puts a message behind the others of its host, and reports whether there is room for it.
func (s *Sender) queue(m queued) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	lane := m.lane()
	waiting, under := s.lanes[lane]
	if s.closed || len(waiting) == QueueLength || !under && len(s.lanes) == Hosts || s.held+len(m.body) > Bytes {
		return false
	}
	s.held += len(m.body)
	s.lanes[lane] = append(waiting, m)
	if !under {
		s.done.Go(func() { s.send(lane) })
	}
	return true
}

// take is the next message for a host. Without one the host's queue is gone.
func (s *Sender) take(lane string) (m queued, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting := s.lanes[lane]
	if len(waiting) == 0 || s.closed {
		delete(s.lanes, lane)
		return m, false
	}
	s.lanes[lane] = waiting[1:]
	return waiting[0], true
}

// send sends what is queued for a host, one message after the other.
func (s *Sender) send(lane string) {
	for {
		m, ok := s.take(lane)
		if !ok {
			return
		}
		if err := s.insist(m); err != nil && s.base.Err() == nil {
			s.c.Log.Warn(s.c.Name+" did not take a message", zap.String("type", m.Type), zap.String("about", m.About), zap.Error(err))
		}
		s.sent(m)
	}
}

// sent makes room for others.
func (s *Sender) sent(m queued) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held -= len(m.body)
}
