// Package seats bounds how much of something that lasts each user, or each address, has at a time, such as
// open streams.
//
//	leave, ok := s.Take(user, 1000)
//	if !ok {
//		// 429
//	}
//	defer leave()
//
// The zero value is ready. It is safe for concurrent use. It knows nothing of other processes, since what it
// counts costs the process that has it.
package seats

import "sync"

// Seats are those of all users.
type Seats struct {
	mu    sync.Mutex
	taken map[string]int
}

// Take takes a seat for a user, who has at most so many. The function gives it back; it may be called once.
func (s *Seats) Take(user string, most int) (leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[user] >= most {
		return nil, false
	}
	if s.taken == nil {
		s.taken = map[string]int{}
	}
	s.taken[user]++
	return func() { s.leave(user) }, true
}

func (s *Seats) leave(user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[user]--; s.taken[user] == 0 {
		delete(s.taken, user)
	}
}
