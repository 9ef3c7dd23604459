package queue

import "fmt"

// Discarded is the result of a call that deletes messages by their ids, and its progress.
type Discarded struct {
	IDs     []MessageID
	Scanned uint64     // messages examined
	More    bool       // messages with the remaining ids may still be in the queue
	Next    PeekCursor // where to continue if More
}

// Discard deletes messages that Look.Locate has found, in any state: in flight, blocked in their groups, delayed, or in
// the middle of the line. Its result has an element for each message that it has reached: true if it deleted the
// message, false if the message was no longer there. The group of a deleted message continues as after Delete.
//
// It does a bounded amount of work. If the result is shorter than the list, the caller repeats the rest in another
// transaction.
//
//   - The record of a message never changes, and positions are never reused: the id in the record at a position
//     identifies the message.
//   - A message leaves the line at its head only; see messages.clearLine.
func (e *Engine) Discard(id ID, messages []Located) ([]bool, error) {
	q, err := e.queueAtPresent(id)
	if err != nil {
		return nil, err
	}
	results := make([]bool, 0, len(messages))
	for enough := q.work + selectionWork; len(results) < len(messages) && q.work < enough && !q.Full(); {
		deleted, later, err := q.discard(messages[len(results)])
		if err != nil {
			return nil, fmt.Errorf("discard: %w", err)
		}
		if later {
			break
		}
		results = append(results, deleted)
	}
	return results, nil
}

// discard deletes one message, if it is there. It returns later if too many messages are in front of it for one
// transaction.
func (q *queue) discard(l Located) (deleted, later bool, err error) {
	q.work++
	b, err := q.tx.Get(messageKey(q.cfg.ID, l.Position))
	if err != nil || b == nil || q.held.at[l.Position] == nil && q.kept.hides(l.Position) {
		return false, false, err
	}
	q.work += len(b) >> 10
	m, err := decodeMessage(b)
	if err != nil || m.ID != l.ID {
		return false, false, err
	}
	indexEnd := q.index.end()
	later, err = q.dropAt(l.Position, m)
	if err != nil {
		return false, false, err
	}
	if end := q.index.end(); end != indexEnd {
		q.moves.lineCleared(end)
	}
	if later {
		return false, true, nil
	}
	q.tally.countDurably(MetricDeleted, 1)
	return true, false, nil
}

// dropAt removes a stored message, in any state.
func (ms *messages) dropAt(p Position, m *Message) (later bool, err error) {
	switch r := ms.held.at[p]; {
	case r != nil:
		return false, ms.removeAndRelease(r)
	case !p.indexed():
		return ms.dropFromLine(p)
	}
	a := aged{pos: p, sent: m.SentAt, group: m.Group}
	if !ms.cfg.FIFO {
		if a.due, err = ms.index.dueOf(p, m.SentAt); err != nil {
			return false, err
		}
	}
	return false, ms.dropUnreceived(a)
}

// dropFromLine removes a message of the line that was never received.
func (ms *messages) dropFromLine(p Position) (later bool, err error) {
	if p < ms.line.head { // a message there has a row in another table
		return false, fmt.Errorf("%v before the line: %w", p, errMissing)
	}
	there, err := ms.clearLine(p)
	if err != nil || !there {
		return err == nil, err
	}
	ms.dropHead()
	return false, nil
}

// dropHead removes the first message of the line that was never received.
func (ms *messages) dropHead() {
	ms.tx.DeleteOnce(messageKey(ms.cfg.ID, ms.line.take()))
	ms.stored--
	ms.markDirty()
}
