package queue

import "fmt"

// Transfer is a message on its way from the outbox of one shard to the shard that
// serves its queue.
type Transfer struct {
	Position Position // in the outbox
	Message  Message
	// Copy means that the message is the copy of a publication, which arrives as if sent to the queue.
	Copy bool
}

// copyVersion is the version of the record of a copy in an outbox. Other messages have recordVersion, with the same
// fields.
const copyVersion = 2

// encode returns the record of t without its position, in buf if it has room.
func (t *Transfer) encode(buf []byte) []byte {
	b := t.Message.encode(buf)
	if t.Copy {
		b[0] = copyVersion
	}
	return b
}

func decodeTransfer(p Position, b []byte) (Transfer, error) {
	r := readRecordUpTo(copyVersion, b)
	t := Transfer{Position: p, Message: r.message(), Copy: !r.Failed() && b[0] == copyVersion}
	return t, r.done("message of an outbox")
}

// OutboxReady returns the queues whose outboxes have become non-empty since the last call; after Load, all queues whose
// outboxes hold messages. It may return a queue twice, or one whose outbox is empty again.
func (r *registry) OutboxReady() []ID {
	ids := r.outboxes.ready
	r.outboxes.ready = nil
	return ids
}

// Outbox returns how many messages the outbox of a queue holds, and a position from which ReadOutbox finds them, once
// they are durable.
func (r *registry) Outbox(id ID) (from Position, n uint64, err error) {
	o := r.outboxes.at[id]
	if o == nil {
		return 0, 0, ErrNoQueue
	}
	return o.head, o.stored, nil
}

// OutboxAccount returns the account that owns the queue of an outbox.
func (r *registry) OutboxAccount(id ID) (string, error) {
	o := r.outboxes.at[id]
	if o == nil {
		return "", ErrNoQueue
	}
	return accountOf(o.arn), nil
}

// Forwarded removes the messages of an outbox up to a position, because the other shard has accepted them. It does
// nothing if they are already removed.
func (r *registry) Forwarded(id ID, upTo Position) error {
	o := r.outboxes.at[id]
	switch {
	case o == nil:
		return ErrNoQueue
	case upTo > o.last:
		return ErrOutOfOrder
	case upTo < o.head:
		return nil
	}
	var forwarded []Position
	left := false
	head := upTo + 1
	_, end := tableRange(id, tableOutboxMessage)
	err := r.tx.Scan(outboxMessageKey(id, o.head), end, func(k, _ []byte) bool {
		if p := Position(tail(k, 0)); p > upTo {
			left, head = true, p
		} else {
			forwarded = append(forwarded, p)
		}
		return !left
	})
	if err != nil {
		return fmt.Errorf("forwarded: %w", err)
	}
	n := uint64(len(forwarded))
	if n > o.stored || left != (n < o.stored) {
		return fmt.Errorf("forwarded: %d of %d messages: %w", n, o.stored, errMissing)
	}
	for _, p := range forwarded {
		r.tx.DeleteOnce(outboxMessageKey(id, p))
	}
	o.stored -= n
	o.own = o.own && o.stored > 0
	o.head = head
	o.markDirty()
	return nil
}

// ReadOutbox reads the first messages of an outbox, from a position that Outbox has returned. r holds durable data.
// ReadOutbox reads at most most messages, and stops before they exceed the given bytes, but reads at least one. Like
// ReadMessage, it needs no engine.
func ReadOutbox(r Reader, id ID, from Position, most, bytes int) ([]Transfer, error) {
	var out []Transfer
	var bad error
	_, end := tableRange(id, tableOutboxMessage)
	err := r.Scan(outboxMessageKey(id, from), end, func(k, v []byte) bool {
		if bytes -= len(v); bytes < 0 && len(out) > 0 {
			return false
		}
		var t Transfer
		if t, bad = decodeTransfer(Position(tail(k, 0)), v); bad != nil {
			return false
		}
		out = append(out, t)
		return len(out) < most
	})
	if err := firstError(err, bad); err != nil {
		return nil, fmt.Errorf("read the outbox of queue %d: %w", id, err)
	}
	return out, nil
}
