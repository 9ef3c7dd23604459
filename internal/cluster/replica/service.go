package replica

// service is what the host has opened to answer requests for a shard, while this node owns it.
//
//   - Each open that succeeds is followed by one stop.
//   - Until it has ended, something may still answer from the store, so no other records may be applied.
type service struct {
	*base
	running  bool // something may be answering requests
	stopping bool // and must stop
}

// open makes the host serve, and returns the ticket.
func (s *service) open(o *Ownership) uint64 {
	s.running, s.stopping = true, false
	ticket := s.newTicket()
	s.effects.open(ticket, o)
	return ticket
}

// stop stops the objects that answer requests, once.
func (s *service) stop() {
	if s.running && !s.stopping {
		s.stopping = true
		s.effects.stop()
	}
}

// ended records that nothing answers requests any more.
func (s *service) ended() { s.running, s.stopping = false, false }
