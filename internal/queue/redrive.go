package queue

import "fmt"

// redrive moves a message that is visible again to the dead-letter queue if it was
// received as often as the redrive policy allows, and reports whether it did. SQS does
// this when the message would be received once more, which does not count as a
// receive. If there is no dead-letter queue, or if it is the queue itself, the message
// stays and is delivered. While the dead-letter queue is sealed, the message waits: it is in
// flight for sealedPause, in no consumer's hands, and redrive reports true. The caller calls
// releaseGroup for the message's group.
func (q *queue) redrive(m *received) (bool, error) {
	policy := q.cfg.Redrive
	if policy == nil || m.receives < uint64(policy.MaxReceives) {
		return false, nil
	}
	group := ""
	if m.group != nil {
		group = m.group.name
	}
	target, sealed := q.e.destination(policy.Target, group)
	if target == nil || target == destination(q) {
		return false, nil
	}
	if sealed {
		q.held.keep(m, sealedPause)
		return true, nil
	}
	msg, err := q.readMessage(m.pos)
	if err != nil {
		return false, fmt.Errorf("redrive: %w", err)
	}
	if q.cfg.Internal {
		msg.SentAt = q.now
	} else {
		msg.Source = q.cfg.ARN
		msg.PriorReceives += m.receives
		if msg.PriorFirst == 0 {
			msg.PriorFirst = m.first
		}
	}
	if target.isFIFO() {
		// In the dead-letter queue the message's own id is its deduplication id. Its
		// retention starts anew, so that a FIFO queue stays in order of age.
		msg.Dedup = msg.ID.String()
		msg.SentAt = q.now
	}
	q.spend(msg)
	q.e.deadLetters.note(&q.cfg, m, msg, q.now)
	q.remove(m)
	q.tally.count(MetricDeadLettered, 1)
	if err := target.accept(msg, q.now); err != nil {
		return false, err
	}
	return true, nil
}
