package queue

import "fmt"

// Arriving is a message on its way from one shard to another. Its position is
// where it stands among those that its shard has for the queue.
type Arriving struct {
	Position Position
	Message  Message
}

// Departing returns the away queues that have begun to hold messages since it
// was last asked; after Load, all that hold some. A queue may be named twice,
// and what it held may have gone again.
func (e *Engine) Departing() []ID {
	ids := e.departing
	e.departing = nil
	return ids
}

// Departures returns how many messages wait in an away queue, and where the
// first of them stands or something before it. They are read with
// ReadDepartures, once they are durable.
func (e *Engine) Departures(id ID) (from Position, n uint64, err error) {
	a := e.away[id]
	if a == nil {
		return 0, 0, ErrNoQueue
	}
	return a.head, a.stored, nil
}

// Departed removes the messages of an away queue up to a position: they have
// arrived. Those that are not there any more are no error.
func (e *Engine) Departed(id ID, upTo Position) error {
	a := e.away[id]
	switch {
	case a == nil:
		return ErrNoQueue
	case upTo > a.last:
		return ErrOutOfOrder
	case upTo < a.head:
		return nil
	}
	var gone []Position
	left := false
	head := upTo + 1
	_, end := tableRange(id, tableDeparture)
	err := e.tx.Scan(departureKey(id, a.head), end, func(k, _ []byte) bool {
		if p := Position(tail(k, 0)); p > upTo {
			left, head = true, p
		} else {
			gone = append(gone, p)
		}
		return !left
	})
	if err != nil {
		return fmt.Errorf("departed: %w", err)
	}
	n := uint64(len(gone))
	if n > a.stored || left != (n < a.stored) {
		return fmt.Errorf("departed: %d of %d messages: %w", n, a.stored, errMissing)
	}
	for _, p := range gone {
		e.tx.DeleteOnce(departureKey(id, p))
	}
	a.stored -= n
	a.head = head
	a.change()
	return nil
}

// ReadDepartures reads, from what is durable, the first messages that wait in an
// away queue, from a position that Departures has given. There are at most so
// many, and of all but the first at most so many bytes. It is independent of
// any engine, as ReadMessage is.
func ReadDepartures(r Reader, id ID, from Position, most, bytes int) ([]Arriving, error) {
	var out []Arriving
	var bad error
	_, end := tableRange(id, tableDeparture)
	err := r.Scan(departureKey(id, from), end, func(k, v []byte) bool {
		if bytes -= len(v); bytes < 0 && len(out) > 0 {
			return false
		}
		var m *Message
		if m, bad = decodeMessage(v); bad != nil {
			return false
		}
		out = append(out, Arriving{Position: Position(tail(k, 0)), Message: *m})
		return len(out) < most
	})
	if err := firstError(err, bad); err != nil {
		return nil, fmt.Errorf("read departing messages of queue %d: %w", id, err)
	}
	return out, nil
}
