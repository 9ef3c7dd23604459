package queue

// DeadLetter is a message that has gone to a dead-letter queue.
type DeadLetter struct {
	Queue    ID // that it was in
	Position Position
	ARN      string   // of that queue
	Target   string   // ARN of the dead-letter queue
	Message  *Message // as the dead-letter queue has it
	Receives uint64   // of the queue that it was in
	At       Instant
}

// WatchDeadLetters has the engine keep its dead letters for DeadLetters.
func (e *Engine) WatchDeadLetters() { e.watchesDeadLetters = true }

// DeadLetters returns the messages that have gone to dead-letter queues since the last call, if WatchDeadLetters was
// called. The owner asks after each transaction.
func (e *Engine) DeadLetters() []DeadLetter {
	letters := e.deadLetters
	e.deadLetters = nil
	return letters
}

// noteDeadLetter keeps what has become of m, whose message goes to another queue.
func (q *queue) noteDeadLetter(m *received, msg *Message) {
	if q.e.watchesDeadLetters && !q.cfg.Internal {
		q.e.deadLetters = append(q.e.deadLetters, DeadLetter{
			Queue: q.cfg.ID, Position: m.pos, ARN: q.cfg.ARN, Target: q.cfg.Redrive.Target, Message: msg, Receives: m.receives, At: q.now,
		})
	}
}
