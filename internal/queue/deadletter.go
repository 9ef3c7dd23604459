package queue

// DeadLetter is a message that was moved to a dead-letter queue.
type DeadLetter struct {
	Queue    ID // the source queue
	Position Position
	ARN      string   // of the source queue
	Target   string   // ARN of the dead-letter queue
	Message  *Message // as the dead-letter queue stores it
	Receives uint64   // in the source queue
	At       Instant
}

// deadLetters holds the messages moved to dead-letter queues since the last call of DeadLetters, if watched.
type deadLetters struct {
	watched bool
	letters []DeadLetter
}

// WatchDeadLetters makes the engine keep its dead letters for DeadLetters.
func (d *deadLetters) WatchDeadLetters() { d.watched = true }

// DeadLetters returns the messages moved to dead-letter queues since the last call, if WatchDeadLetters was called. The
// owner calls it after each transaction.
func (d *deadLetters) DeadLetters() []DeadLetter {
	letters := d.letters
	d.letters = nil
	return letters
}

// note records that m was moved. message is the dead-letter queue's copy.
func (d *deadLetters) note(cfg *Config, m *received, message *Message, at Instant) {
	if d.watched && !cfg.Internal {
		d.letters = append(d.letters, DeadLetter{
			Queue: cfg.ID, Position: m.pos, ARN: cfg.ARN, Target: cfg.Redrive.Target, Message: message,
			Receives: m.receives, At: at,
		})
	}
}
