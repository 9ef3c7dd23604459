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

// deadLetters are the messages that have gone to dead-letter queues since the owner asked last, if it wants to know.
type deadLetters struct {
	watched bool
	letters []DeadLetter
}

// WatchDeadLetters has the engine keep its dead letters for DeadLetters.
func (e *Engine) WatchDeadLetters() { e.deadLetters.watched = true }

// DeadLetters returns the messages that have gone to dead-letter queues since the last call, if WatchDeadLetters was
// called. The owner asks after each transaction.
func (e *Engine) DeadLetters() []DeadLetter {
	letters := e.deadLetters.letters
	e.deadLetters.letters = nil
	return letters
}

// note keeps what has become of m, a message of a queue. message is what the dead-letter queue has of it.
func (d *deadLetters) note(cfg *Config, m *received, message *Message, at Instant) {
	if d.watched && !cfg.Internal {
		d.letters = append(d.letters, DeadLetter{
			Queue: cfg.ID, Position: m.pos, ARN: cfg.ARN, Target: cfg.Redrive.Target, Message: message,
			Receives: m.receives, At: at,
		})
	}
}
