package queue

import "time"

// ID names a queue inside the engine. An ID is never used again, so that a
// queue made anew under an old name has nothing to do with the old one's data.
type ID uint64

// Limits of SQS that the engine itself enforces.
const (
	// MaxInFlight is how many messages of a queue may be received and not yet
	// deleted (guide, "Delay Queues": 120,000).
	MaxInFlight = 120_000
	// MaxVisibility is the longest that a message may be kept invisible,
	// counted from its receive, however often its timeout is changed.
	MaxVisibility = 12 * time.Hour
	// DedupInterval is how long a deduplication id is remembered, counted from
	// the acceptance of the message, and a receive attempt from its receive.
	DedupInterval = 5 * time.Minute
	// PurgeInterval is the least time between two purges of a queue.
	PurgeInterval = 60 * time.Second
)

// Config is what the engine knows of a queue's attributes.
type Config struct {
	ID      ID
	ARN     string
	Created Instant
	FIFO    bool
	// Delay of messages that do not bring their own. FIFO messages never do,
	// and a change of it applies to those that still wait.
	Delay      time.Duration
	Visibility time.Duration
	Retention  time.Duration
	// Redrive is nil for a queue without dead-letter queue.
	Redrive *Redrive
	// DedupPerGroup makes deduplication ids count within their message group
	// only (DeduplicationScope=messageGroup).
	DedupPerGroup bool
	// Elsewhere says that another shard serves the queue. The engine then uses its
	// ID, ARN and kind only: it can be a dead-letter queue or the destination of a
	// move, and its messages wait in an outbox to be forwarded.
	Elsewhere bool
	// Parts is over how many shards a FIFO queue is spread by message group, and
	// Part which of them this one is, counted from 0. Messages that are redriven or
	// moved to a group of another part wait in an outbox. 0 means that the queue is
	// not spread.
	Part, Parts int
	// Internal says that the queue belongs to a topic or a subscription. A dead letter
	// from there does not tell where it comes from: it is a new message to its consumer.
	Internal bool
	// PurgeAnytime says that a purge need not wait for PurgeInterval after the one before.
	PurgeAnytime bool
	// Sealed says that the queue is about to be deleted because it is unused, or to be opened again. Until then no call
	// of a client and no message of another queue gets in: they are refused with ErrSealed, so that what Use tells
	// stays true.
	Sealed bool
	// PausedGroups are the groups of a FIFO queue from which nothing is received.
	PausedGroups []string
	// Limits are those that the queue's owner has set.
	Limits Limits
	// MaxInFlight overrides the constant of that name if it is not zero.
	MaxInFlight int
}

// Redrive says where messages go that were received too often.
type Redrive struct {
	Target      string // ARN of the dead-letter queue
	MaxReceives int    // deliveries before the move
}

// serves reports whether the messages of a group are for this shard.
func (c *Config) serves(group string) bool { return c.Parts < 2 || PartOf(group, c.Parts) == c.Part }

func (c *Config) maxInFlight() int {
	if c.MaxInFlight != 0 {
		return c.MaxInFlight
	}
	return MaxInFlight
}
