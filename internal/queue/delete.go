package queue

// Receipt names one receive of one message. A receipt handle stands for it.
type Receipt struct {
	Position Position
	Number   uint64
}

// Delete removes messages. Its result has an element for each receipt: nil if the message is gone, even if it was gone
// before the call, or ErrReceiptExpired.
//
// A standard queue accepts any receipt of the message, even after its visibility timeout. A FIFO queue accepts only the
// newest one, and only while the message is in flight: otherwise the next consumer may already work on it.
func (e *Engine) Delete(id ID, receipts []Receipt) ([]error, error) {
	q, err := e.queueAtPresent(id)
	if err != nil {
		return nil, err
	}
	results := make([]error, len(receipts))
	for i, r := range receipts {
		m := q.held.at[r.Position]
		switch {
		case m == nil:
			if err := q.deleteKept(r.Position); err != nil {
				return nil, err
			}
		case q.cfg.FIFO && !m.heldBy(r):
			results[i] = ErrReceiptExpired
		default:
			q.tally.observeProcessing(m)
			if err := q.removeAndRelease(m); err != nil {
				return nil, err
			}
		}
		if results[i] == nil {
			q.tally.countDurably(MetricDeleted, 1)
		}
	}
	return results, nil
}

// Holds reports whether a message was received and is still in its queue.
func (e *Engine) Holds(id ID, p Position) bool {
	q := e.queues[id]
	return q != nil && q.held.at[p] != nil
}
