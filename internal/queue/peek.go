package queue

import "github.com/sluicemq/sluice/internal/search"

// States is a set of states of messages.
type States uint8

// The states. A message that was received and is visible again is visible, also if it is in a FIFO group of which
// another message is in flight.
const (
	StateVisible States = 1 << iota
	StateInFlight
	StateDelayed
	AllStates = StateVisible | StateInFlight | StateDelayed
)

// Peek asks for the contents of a queue, without a receive.
type Peek struct {
	States States
	Filter string      // see package search
	IDs    []MessageID // the ids to look for; none: all
	After  PeekCursor
	Max    int  // maximum number of messages to return
	Bodies bool // also return their bodies
}

// PeekCursor records the progress of a look. The zero cursor is the beginning. The engine does not use Shard: it
// records where to continue if the queue is on several shards.
type PeekCursor struct {
	Shard int
	place
}

// Peeked is a message that a look has found. If it cannot be decrypted, IsEncrypted returns true, and it has no body.
type Peeked struct {
	Message  // without its body, unless Peek.Bodies
	Position Position
	State    States
	Size     int    // of the whole message, see Message.Size
	Receives uint64 // of this queue
	First    Instant
	Last     Instant // of the receives; 0: there were none
	Until    Instant // in flight: the end of its visibility timeout; delayed: of its delay
}

// PeekResult is the result of a look.
type PeekResult struct {
	Messages []Peeked
	Scanned  uint64     // messages in the requested states, matching or not
	More     bool       // the look has not reached the end
	Next     PeekCursor // where to continue if More
}

// Peek searches a queue as stored in r, which must not change meanwhile. It ends when it has found enough messages, or
// when proceed returns false; proceed is called with the size of every examined message. Expired messages are skipped.
// A message that is received or returned between two calls with a cursor may be missed or seen twice.
func (l Look) Peek(r Reader, p *Peek, proceed func(bytes int) bool) (PeekResult, error) {
	query, err := search.Parse(p.Filter)
	if err != nil {
		return PeekResult{}, err
	}
	s := &peeking{
		walk: walk{Look: l, r: r, proceed: proceed, phases: p.phases(), at: p.After.place},
		peek: p, query: query, wanted: wantedIDs(p.IDs),
	}
	s.full, s.look = s.enough, s.lookAtRow
	if written, err := s.open(); !written || err != nil || len(s.phases) == 0 {
		return PeekResult{}, l.failed(err)
	}
	if s.at.phase < s.phases[0] {
		s.at = place{phase: s.phases[0]}
	}
	if err := s.run(); err != nil {
		return s.result, l.failed(err)
	}
	if s.result.More = s.stopped; s.stopped {
		s.result.Next = PeekCursor{Shard: p.After.Shard, place: s.at}
	}
	return s.result, nil
}

// phases returns where the messages are that a peek asks for. If visible messages are not wanted, these are two
// short tables only.
func (p *Peek) phases() (phases []phase) {
	if p.States&StateVisible != 0 {
		return []phase{phaseHeld, phaseLine, phaseIndexed}
	}
	if p.States&StateInFlight != 0 {
		phases = append(phases, phaseReceived)
	}
	if p.States&StateDelayed != 0 {
		phases = append(phases, phaseDelayed)
	}
	return phases
}

// peeking is a look in progress.
type peeking struct {
	walk
	peek   *Peek
	query  *search.Query
	wanted map[MessageID]bool // nil: all
	bytes  int                // of the bodies found
	result PeekResult
}

// peekBytes limits the bytes of the messages that a look returns, unless a single one is larger.
const peekBytes = 4 << 20

func (s *peeking) enough() bool { return len(s.result.Messages) >= s.peek.Max || s.bytes > peekBytes }

// lookAtRow looks at the message of a row.
func (s *peeking) lookAtRow(at place, row []byte) (bytes int, err error) {
	bytes = len(row)
	st, err := s.stateAt(at, row)
	if err != nil || s.peek.States&st.state == 0 {
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
	state    States    // 0: another row says it
	received *received // nil: it was not received
	until    Instant
}

// stateAt returns the state of the message of a row.
func (s *peeking) stateAt(at place, row []byte) (peekedState, error) {
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

// delayedUntil is the state of a message whose delay ends at due, after which it is in another.
func (s *peeking) delayedUntil(due Instant, after States) peekedState {
	if due > s.now {
		return peekedState{state: StateDelayed, until: due}
	}
	return peekedState{state: after}
}

// lookAt decides about a message in a requested state.
func (s *peeking) lookAt(p Position, value []byte, st *peekedState) error {
	if err := s.item.read(value, st.received, s.now); err != nil {
		return err
	}
	if Instant(s.item.Sent)+s.retention <= s.now {
		return nil
	}
	s.result.Scanned++
	if s.wanted != nil && !s.wanted[s.item.messageID] {
		return nil
	}
	if err := s.item.decrypt(value, s.Cipher); err != nil || !s.item.matches(s.query) {
		return err
	}
	return s.found(p, value, st)
}

func (s *peeking) found(p Position, value []byte, st *peekedState) error {
	m, err := s.item.decrypted, error(nil)
	if m == nil {
		if m, err = decodeMessage(value); err != nil {
			return err
		}
	}
	f := Peeked{Message: *m, Position: p, State: st.state, Size: m.Size(), Until: st.until}
	if r := st.received; r != nil {
		f.Receives, f.First, f.Last = r.receives, r.first, r.last
		if st.state == StateInFlight {
			f.Until = r.deadline
		}
	}
	if !s.peek.Bodies || !s.item.readable {
		f.Body = ""
	}
	s.bytes += f.Message.Size()
	s.result.Messages = append(s.result.Messages, f)
	return nil
}
