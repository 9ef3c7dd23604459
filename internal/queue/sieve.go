package queue

import "github.com/sluicemq/sluice/internal/search"

// sieve is a walk through the messages of a queue in some states that finds those that a filter selects. It skips
// expired messages.
type sieve struct {
	walk
	states  States
	query   *search.Query
	wanted  map[MessageID]bool // nil: all
	scanned uint64             // messages in the states, selected or not
	take    func(p Position, value []byte, st *peekedState) error
}

func newSieve(
	l Look,
	r Reader,
	states States,
	after PeekCursor,
	query *search.Query,
	proceed func(bytes int) bool,
) sieve {
	return sieve{
		walk:   walk{Look: l, r: r, proceed: proceed, phases: states.phases(), at: after.place},
		states: states, query: query,
	}
}

// run continues the walk.
func (s *sieve) run() error {
	s.look = s.lookAtRow
	if written, err := s.open(); !written || err != nil || len(s.phases) == 0 {
		return s.failed(err)
	}
	if s.at.phase < s.phases[0] {
		s.at = place{phase: s.phases[0]}
	}
	return s.failed(s.walk.run())
}

// next returns where to continue if the walk was stopped, on the shard where it began.
func (s *sieve) next(after PeekCursor) PeekCursor {
	if !s.stopped {
		return PeekCursor{}
	}
	return PeekCursor{Shard: after.Shard, place: s.at}
}

// phases returns the phases with messages in the given states. Without visible messages these are only two short
// tables.
func (states States) phases() (phases []phase) {
	if states&StateVisible != 0 {
		return []phase{phaseHeld, phaseLine, phaseIndexed}
	}
	if states&StateInFlight != 0 {
		phases = append(phases, phaseReceived)
	}
	if states&StateDelayed != 0 {
		phases = append(phases, phaseDelayed)
	}
	return phases
}

// lookAtRow examines the message of a row.
func (s *sieve) lookAtRow(at place, row []byte) (bytes int, err error) {
	bytes = len(row)
	st, err := s.stateAt(at, row)
	if err != nil || s.states&st.state == 0 {
		return bytes, err
	}
	record, err := s.record(at, row)
	if err != nil {
		return bytes, err
	}
	return bytes, s.lookAt(at.position, record, &st)
}

// peekedState is what the tables record about a message besides its record.
type peekedState struct {
	state    States    // 0: another row determines it
	received *received // nil: it was not received
	until    Instant
}

// stateAt returns the state of the message of a row.
func (s *sieve) stateAt(at place, row []byte) (peekedState, error) {
	if at.phase == phaseDelayed {
		due := at.due
		if s.fifo {
			due += s.delay
		}
		return s.delayedUntil(due, 0), nil
	}
	m, err := s.received(at, row)
	if err != nil {
		return peekedState{}, err
	}
	if m != nil {
		return peekedState{state: s.stateOf(m), received: m}, nil
	}
	if at.phase == phaseLine {
		return peekedState{state: StateVisible}, nil
	}
	due, err := s.dueOf(at.position, row)
	return s.delayedUntil(due, StateVisible), err
}

// delayedUntil is the state of a message whose delay ends at due; afterwards it has another state.
func (s *sieve) delayedUntil(due Instant, after States) peekedState {
	if due > s.now {
		return peekedState{state: StateDelayed, until: due}
	}
	return peekedState{state: after}
}

// lookAt decides about a message in a requested state.
func (s *sieve) lookAt(p Position, value []byte, st *peekedState) error {
	if err := s.item.read(value, st.received, s.now); err != nil {
		return err
	}
	if Instant(s.item.Sent)+s.retention <= s.now {
		return nil
	}
	s.scanned++
	if s.wanted != nil && !s.wanted[s.item.messageID] {
		return nil
	}
	if err := s.item.decrypt(value, s.Cipher); err != nil || !s.item.matches(s.query) {
		return err
	}
	return s.take(p, value, st)
}
