package queue

// Sent is the answer to a send.
type Sent struct {
	ID       MessageID
	Sequence uint64 // 0 in a standard queue
	// Duplicate reports that the queue accepted a message with the same deduplication id earlier in the interval. ID
	// and Sequence are those of the earlier message.
	Duplicate bool
}

// Send accepts messages, in order. For a FIFO queue each must have a group and a deduplication id.
func (e *Engine) Send(id ID, messages []Outgoing) ([]Sent, error) {
	q, err := e.queueAtPresent(id)
	if err != nil {
		return nil, err
	}
	sent := make([]Sent, 0, len(messages))
	for i := range messages {
		s, err := q.send(&messages[i])
		if err != nil {
			return nil, err
		}
		sent = append(sent, s)
	}
	return sent, nil
}

func (q *queue) send(o *Outgoing) (Sent, error) {
	if q.cfg.FIFO {
		if s, found, err := q.dedup.duplicateOf(o); found || err != nil {
			if err == nil {
				q.tally.countDurably(MetricDeduplicated, 1)
			}
			return s, err
		}
	}
	delay := q.cfg.Delay
	if o.Delay != nil && !q.cfg.FIFO {
		delay = *o.Delay
	}
	m := o.message(q.now)
	due := q.now.Add(delay)
	if err := q.accept(m, due); err != nil {
		return Sent{}, err
	}
	s := Sent{ID: m.ID, Sequence: m.Sequence}
	if q.cfg.FIFO {
		q.dedup.rememberSend(o, s)
	}
	return s, nil
}

// accept takes m in as the newest message of the queue, available from due.
func (q *queue) accept(m *Message, due Instant) error {
	if err := q.endMinute(); err != nil { // of a queue to which a message is redriven or moved
		return err
	}
	q.tally.start()
	if m.Source == "" {
		q.tally.countSent(m)
	}
	if q.cfg.FIFO {
		// Messages whose delay has ended must not hold up a message from another queue.
		if err := q.endDelays(); err != nil {
			return err
		}
	} else if m.Group != "" {
		q.tally.fair = yes
	}
	q.lastSend = q.now
	return q.put(m, due)
}
