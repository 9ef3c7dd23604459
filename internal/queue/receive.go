package queue

import "time"

// Receive asks for messages.
type Receive struct {
	Max     int // maximum number of messages
	Timeout *time.Duration
	// Attempt is the ReceiveRequestAttemptId. Only receives from FIFO queues may have one.
	Attempt string
	// Decrypt asks a shard of this process to decrypt the messages if it can. Other nodes ignore it: their messages
	// stay encrypted.
	Decrypt bool
}

// Delivery is one delivery of a message to a consumer. Once the receive is durable, ReadMessage reads the body.
type Delivery struct {
	Position Position
	Receipt  uint64
	Receives uint64  // from this queue, including this one
	First    Instant // of the receives
	Until    Instant // the end of its visibility timeout
}

// Receive delivers available messages, or none. With too many messages in flight a standard queue returns ErrOverLimit,
// and a FIFO queue no messages, as in SQS. A repeated attempt on a FIFO queue delivers the same messages again, with
// the same receipts. It returns ErrAttemptStale if one of them was deleted or changed since, or has become visible.
//
// Messages beyond the Limits are not delivered, except to a repeated attempt.
//
// A receive moves a bounded number of messages to the dead-letter queue. If more remain to be moved, it may deliver
// none although the queue is Available. The next receive continues.
func (e *Engine) Receive(id ID, r Receive) ([]Delivery, error) {
	q, err := e.queueAtPresent(id)
	if err != nil {
		return nil, err
	}
	e.work = 0
	out, err := q.receive(r)
	if len(out) > 0 {
		q.tally.countDurably(MetricReceived, int64(len(out)))
	}
	return out, err
}

func (q *queue) receive(r Receive) ([]Delivery, error) {
	timeout := q.cfg.Visibility
	if r.Timeout != nil {
		timeout = *r.Timeout
	}
	if !q.cfg.FIFO {
		if q.held.full() {
			return nil, ErrOverLimit
		}
		r.Attempt = ""
	}
	if r.Attempt != "" {
		if out, found, err := q.repeat(r.Attempt, timeout); found || err != nil {
			return out, err
		}
	}
	if q.cfg.FIFO && q.kept.undoes() {
		return nil, nil
	}
	out, err := q.give(q.throttle.allowed(r.Max, q.held.inFlight), timeout)
	q.throttle.count(len(out))
	if err == nil && r.Attempt != "" && len(out) > 0 {
		q.dedup.rememberAttempt(r.Attempt, out)
	}
	return out, err
}

// repeat answers a repeated receive attempt with the same messages and receipts. Their visibility timeout starts again.
func (q *queue) repeat(attempt string, timeout time.Duration) ([]Delivery, bool, error) {
	given, found, err := q.dedup.attempt(attempt)
	if !found || err != nil {
		return nil, false, err
	}
	for _, d := range given {
		if m := q.held.at[d.Position]; m == nil || !m.heldBy(Receipt{d.Position, d.Receipt}) || m.deadline != d.Until {
			return nil, true, ErrAttemptStale
		}
	}
	for i, d := range given {
		m := q.held.at[d.Position]
		q.held.restart(m, timeout)
		given[i] = m.delivery()
	}
	for _, d := range given {
		q.groups.updateReady(q.held.at[d.Position].group)
	}
	q.dedup.rememberAttempt(attempt, given)
	return given, true, nil
}
