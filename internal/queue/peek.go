package queue

import "github.com/sluicemq/sluice/internal/search"

// States is a set of states of messages.
type States uint8

// The states. A message that was received and is visible again is visible, even if another message of its FIFO group is
// in flight.
const (
	StateVisible States = 1 << iota
	StateInFlight
	StateDelayed
	AllStates = StateVisible | StateInFlight | StateDelayed
)

// Peek requests messages of a queue without receiving them.
type Peek struct {
	States States
	Filter string      // see package search
	IDs    []MessageID // of the wanted messages; none: all messages
	After  PeekCursor
	Max    int  // maximum number of messages to return
	Bodies bool // also return their bodies
}

// PeekCursor records the progress of a peek. The zero cursor is the beginning. The engine does not use Shard: it
// records where to continue if the queue is on several shards.
type PeekCursor struct {
	Shard int
	place
}

// Peeked is a message that a peek has found. If it cannot be decrypted, IsEncrypted returns true, and it has no body.
type Peeked struct {
	Message  // without its body, unless Peek.Bodies
	Position Position
	State    States
	Size     int    // of the whole message, see Message.Size
	Receives uint64 // of this queue
	First    Instant
	Last     Instant // of the receives; 0: never received
	Until    Instant // the end of the visibility timeout, or of the delay
}

// PeekResult is the result of a peek.
type PeekResult struct {
	Messages []Peeked
	Scanned  uint64     // messages in the requested states, matching or not
	More     bool       // the peek has not reached the end
	Next     PeekCursor // where to continue if More
}

// Peek searches a queue as stored in r, which must not change meanwhile. It ends when it has found enough messages, or
// when proceed returns false, which it calls with the size of every examined message. It skips expired messages. It may
// miss a message, or see it twice, if the message is received or returned between two calls with a cursor.
func (l Look) Peek(r Reader, p *Peek, proceed func(bytes int) bool) (PeekResult, error) {
	query, err := search.Parse(p.Filter)
	if err != nil {
		return PeekResult{}, err
	}
	s := &peeking{sieve: newSieve(l, r, p.States, p.After, query, proceed), bodies: p.Bodies, max: p.Max}
	s.wanted, s.full, s.take = wantedIDs(p.IDs), s.enough, s.found
	if err := s.run(); err != nil {
		return s.result, err
	}
	s.result.Scanned, s.result.More, s.result.Next = s.scanned, s.stopped, s.next(p.After)
	return s.result, nil
}

// peeking is a peek in progress.
type peeking struct {
	sieve
	bodies bool
	max    int
	bytes  int // of the bodies found
	result PeekResult
}

// peekBytes limits the bytes of the messages that a peek returns, unless a single one is larger.
const peekBytes = 4 << 20

func (s *peeking) enough() bool { return len(s.result.Messages) >= s.max || s.bytes > peekBytes }

// found adds a message to the result.
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
	if !s.bodies || !s.item.readable {
		f.Body = ""
	}
	s.bytes += f.Message.Size()
	s.result.Messages = append(s.result.Messages, f)
	return nil
}
