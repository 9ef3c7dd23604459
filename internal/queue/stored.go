package queue

// Weight is a number of messages, and the bytes of their records: bodies, attributes, and about 60 bytes per message.
type Weight struct{ Messages, Bytes uint64 }

// RecordBytes is approximately what a record takes in addition to Message.Size.
const RecordBytes = 60

// Stored is how much the shard stores of a queue, from memory.
type Stored struct {
	Look     Look
	Messages uint64 // in all states
	// Arrived counts the messages stored since the engine was loaded, including those removed since. The engine does
	// not know the size of the present messages: Weigh measures it.
	Arrived Weight
}

// Stored returns how much the shard stores of the queues of some accounts. It does no work that is due, so messages
// that have just expired may still count. It omits messages on their way to another shard. Deleted queues whose
// deletion can be undone count, with all messages that an undo would restore.
func (e *Engine) Stored(wanted func(account string) bool) []Stored {
	var out []Stored
	for id, q := range e.queues {
		if q.cfg.Internal || !wanted(accountOf(q.cfg.ARN)) {
			continue
		}
		out = append(out, Stored{Look{queue: id, arn: q.cfg.ARN, kept: q.kept.keptRecord}, q.stored, q.arrived})
	}
	for id, s := range e.shelf {
		if wanted(accountOf(s.arn)) {
			out = append(out, Stored{Look: Look{queue: id, arn: s.arn}, Messages: s.messages})
		}
	}
	return out
}

// Queue returns the id of the queue.
func (l *Look) Queue() ID { return l.queue }

// Weigh adds up the messages of a queue from a position on, 0 at first, and returns where to continue, or 0 if it has
// reached the end. Kept messages of a purge do not count. It stops when proceed, which is called with the bytes of each
// message, returns false.
func (l *Look) Weigh(r Reader, from Position, proceed func(bytes int) bool) (w Weight, next Position, err error) {
	_, end := tableRange(l.queue, tableMessage)
	err = r.Scan(messageKey(l.queue, from), end, func(k, v []byte) bool {
		if !l.kept.hides(Position(tail(k, 0))) {
			w.Messages++
			w.Bytes += uint64(len(v))
		}
		if !proceed(len(v)) {
			next = Position(tail(k, 0)) + 1
			return false
		}
		return true
	})
	return w, next, err
}
