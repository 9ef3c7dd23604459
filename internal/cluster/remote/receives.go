package remote

import (
	"context"
	"sync"
)

// cancelledKept is how many cancellations are kept that may have overtaken their receives.
const cancelledKept = 1024

// receives holds the receives that this node executes for others. The zero value is ready for use.
type receives struct {
	mu      sync.Mutex
	running map[callID]context.CancelFunc
	// cancelled holds the last receives that were cancelled while they were not running: they had ended, or have yet to
	// arrive.
	cancelled map[callID]bool
	order     [cancelledKept]callID
	next      int
}

// begin adds a receive, or returns false if it is already cancelled.
func (s *receives) begin(c callID, cancel context.CancelFunc) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancelled[c] {
		return false
	}
	if s.running == nil {
		s.running = make(map[callID]context.CancelFunc)
	}
	s.running[c] = cancel
	return true
}

func (s *receives) end(c callID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, c)
}

func (s *receives) cancel(c callID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.running[c]; cancel != nil {
		cancel()
		return
	}
	if s.cancelled == nil {
		s.cancelled = make(map[callID]bool)
	}
	delete(s.cancelled, s.order[s.next])
	s.order[s.next] = c
	s.next = (s.next + 1) % len(s.order)
	s.cancelled[c] = true
}
