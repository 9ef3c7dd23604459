package queue

import "time"

// ID identifies a queue inside the engine. IDs are never reused: a new queue with an old name never sees the data of
// the old queue.
type ID uint64

// Limits of SQS that the engine itself enforces.
const (
	// MaxInFlight limits the messages of a queue that are received and not yet deleted (guide, "Delay Queues":
	// 120,000).
	MaxInFlight = 120_000
	// MaxVisibility is the longest time that a message can be invisible, counted from its receive, however often its
	// timeout is changed.
	MaxVisibility = 12 * time.Hour
	// DedupInterval is how long a queue remembers a deduplication id, counted from the acceptance of the message, and a
	// receive attempt, counted from the receive.
	DedupInterval = 5 * time.Minute
	// PurgeInterval is the minimum time between two purges of a queue.
	PurgeInterval = 60 * time.Second
)

// Config holds the attributes of a queue that the engine needs.
type Config struct {
	ID      ID
	ARN     string
	Created Instant
	FIFO    bool
	// Delay of messages without a delay of their own. FIFO messages never have their own, and a change of Delay also
	// applies to waiting ones.
	Delay      time.Duration
	Visibility time.Duration
	Retention  time.Duration
	// Redrive is nil for a queue without dead-letter queue.
	Redrive *Redrive
	// DedupPerGroup limits deduplication to messages of the same group (DeduplicationScope=messageGroup).
	DedupPerGroup bool
	// Elsewhere means that another shard serves the queue. The engine then uses only its ID, ARN and kind. The queue
	// can be a dead-letter queue or the destination of a move; its messages wait in an outbox to be forwarded.
	Elsewhere bool
	// Parts is the number of shards over which a FIFO queue is spread by message group, and Part the number of this
	// shard among them, from 0. Messages that are redriven or moved to a group of another part wait in an outbox. A
	// queue with 0 Parts is not spread.
	Part, Parts int
	// Internal means that the queue belongs to a topic or a subscription. Its dead letters do not name their source: to
	// their consumer they are new messages.
	Internal bool
	// PurgeAnytime allows a purge within PurgeInterval of the previous one.
	PurgeAnytime bool
	// Sealed means that the queue was unused and will soon be deleted, or unsealed if it was used after all. Meanwhile,
	// the engine refuses all calls of clients and all messages of other queues with ErrSealed, so the answer of Use
	// stays true.
	Sealed bool
	// Shelved means that the queue was deleted, and that a config without Shelved undoes the deletion. The queue's data
	// stays unchanged. To all calls the queue does not exist. Copies of publications that were accepted for it wait.
	Shelved bool
	// PausedGroups are the groups of a FIFO queue whose messages are not delivered.
	PausedGroups []string
	// Limits are set by the queue's owner.
	Limits Limits
	// MaxInFlight overrides the constant of that name if it is not zero.
	MaxInFlight int
}

// Redrive sends messages to a dead-letter queue after too many receives.
type Redrive struct {
	Target      string // ARN of the dead-letter queue
	MaxReceives int    // deliveries before the move
}

// serves reports whether this shard serves the messages of a group.
func (c *Config) serves(group string) bool { return c.Parts < 2 || PartOf(group, c.Parts) == c.Part }

func (c *Config) maxInFlight() int {
	if c.MaxInFlight != 0 {
		return c.MaxInFlight
	}
	return MaxInFlight
}
