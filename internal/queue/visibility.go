package queue

import "time"

// Visibility asks for a message to stay invisible for Timeout from now.
type Visibility struct {
	Receipt
	Timeout time.Duration
}

// ChangeVisibility changes when messages become visible again; a timeout of 0
// makes one visible at once. Its result has an element for each change: nil,
// ErrNotReceived if the message is gone, ErrVisibilityTotal if it would have
// been invisible for more than MaxVisibility since its receive, or, in a FIFO
// queue, ErrReceiptExpired.
//
// A message of a standard queue that is visible again becomes invisible, as in SQS.
func (e *Engine) ChangeVisibility(id ID, changes []Visibility) ([]error, error) {
	q, err := e.queueAtPresent(id)
	if err != nil {
		return nil, err
	}
	results := make([]error, len(changes))
	for i, c := range changes {
		m := q.held.at[c.Position]
		switch {
		case m == nil:
			results[i] = ErrNotReceived
		case q.cfg.FIFO && !m.heldBy(c.Receipt):
			results[i] = ErrReceiptExpired
		case e.now.Add(c.Timeout) > m.last.Add(MaxVisibility):
			results[i] = ErrVisibilityTotal
		default:
			q.held.restart(m, c.Timeout)
			if m.group != nil {
				q.groups.updateReady(m.group)
			}
		}
	}
	return results, nil
}
