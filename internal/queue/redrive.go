package queue

import "fmt"

// redrive moves a message that is visible again to the dead-letter queue if it was received as often as the redrive
// policy allows, and reports whether it did. As in SQS, this happens when the message would be received once more; it
// does not count as a receive. If the dead-letter queue does not exist, or is the queue itself, the message is
// delivered. While the dead-letter queue is sealed, the message waits: redrive hides it for sealedPause, and reports
// true. The caller calls releaseGroup for the message's group.
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
	if target == nil || target.queueID() == q.cfg.ID {
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
		// In the dead-letter queue the message's own id is its deduplication id. Its retention period starts again, so
		// that a FIFO queue stays ordered by age.
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
