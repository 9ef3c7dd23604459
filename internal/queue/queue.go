package queue

import (
	"container/list"

	"github.com/sluicemq/sluice/internal/heap"
)

// queue is the state of one queue. The store has meta as one record; the engine
// rebuilds the rest from the tables when it is loaded.
type queue struct {
	base
	e *Engine

	line   lineRecord
	index  indexRecord
	rota   rota
	groups groups
	held   heldRecord
	delays delaysRecord
	dedup  dedup
	tally  tally
	stored uint64 // messages in the queue, in whatever state
	purged Instant

	// received holds the messages that were received and not deleted, also those
	// that are visible again: they are received once more before new messages
	// could take their number past the limit of messages in flight.
	received  map[Position]*received
	inFlight  int
	deadlines heap.Heap[*received] // of those in flight
	returned  list.List            // *received, standard queues: visible again, in order of return
	oldest    []*received          // of the line, in order of position, for expiry
	lineHeld  int                  // how many of the line are in received

	firstSource int     // which source the next receive of a standard queue tries first
	nextDelay   Instant // no delay ends before; never if nothing is delayed
	nextExpiry  Instant // expiry is not looked at before, to bound its cost
	tasks       []*MoveTask
	movesFrom   Instant // the running task moves nothing before: its destination is sealed
	found       *Found  // for the running task, if it has a Selection; nil: it wants a search

	lastSend, lastReceive Instant // since the engine was loaded; 0: never
	arrived               Weight  // what was stored since the engine was loaded
	pace                  pace    // of Config.Limits.Rate

	wakeAt    Instant // when time alone will change something here
	wakePlace int     // in Engine.wakes
	announced bool    // internal: it is available, and Engine.Deliverable has said so
}

func newQueue(e *Engine, cfg Config) *queue {
	q := &queue{
		base: base{transaction: &e.transaction, cfg: cfg}, e: e, received: make(map[Position]*received),
		nextDelay: never, wakeAt: never,
		deadlines: heap.New((*received).earlier, func(m *received) *int { return &m.place }),
	}
	q.dedup = newDedup(&q.base, &e.slots)
	q.tally = tally{base: &q.base, series: &e.series}
	q.line = lineRecord{head: 1, next: 1}
	q.rota = rota{base: &q.base, rotaRecord: rotaRecord{head: 1}}
	q.groups = newGroups(&q.base, &q.rota, e.groupRecords)
	return q
}

// advance brings the queue up to the present: it does what time alone has made
// due. It does a bounded amount of work; if more is left, the queue's wake-up is due
// at once, and the engine continues then.
func (q *queue) advance() error {
	q.touch()
	if err := q.endMinute(); err != nil {
		return err
	}
	q.endTimeouts()
	if err := q.expire(); err != nil {
		return err
	}
	if err := q.endDelays(); err != nil {
		return err
	}
	q.dedup.dropOld()
	return nil
}

// available reports whether a receive would be given something.
func (q *queue) available() bool { return q.holds() && q.allowed(1) > 0 }

// holds reports whether there is a message that a receive could be given, but for Limits.
func (q *queue) holds() bool {
	if q.inFlight >= q.cfg.maxInFlight() {
		return false
	}
	if q.returned.Len() > 0 || q.groups.ready.Len() > 0 {
		return true
	}
	return q.roomForNew(1) > 0 && (q.rota.length > 0 || q.line.head < q.line.next)
}

// announce tells of an internal queue that has become available.
func (q *queue) announce() {
	if !q.cfg.Internal {
		return
	}
	available := q.available()
	if available && !q.announced {
		q.e.deliverable = append(q.e.deliverable, q.cfg.ID)
	}
	q.announced = available
}

// schedule returns when time alone will next change something.
func (q *queue) schedule() Instant {
	at := never
	if q.deadlines.Len() > 0 {
		at = q.deadlines.First().deadline
	}
	if q.delays.count > 0 && q.nextDelay != never {
		at = min(at, q.delayEnd(q.nextDelay))
	}
	if floor := q.floor(); floor != never {
		at = min(at, max(floor.Add(q.cfg.Retention), q.nextExpiry))
	}
	at = min(at, q.dedup.wakeAt())
	for _, t := range q.tasks {
		if t.Status == MoveRunning && (t.Selection == nil || q.found != nil) {
			at = min(at, max(t.next(), q.movesFrom))
		}
	}
	return min(at, q.tally.wakeAt(), q.paced())
}

// Counts are the numbers of messages in a queue's states.
type Counts struct {
	Visible  uint64 // ApproximateNumberOfMessages
	InFlight uint64 // ApproximateNumberOfMessagesNotVisible
	Delayed  uint64 // ApproximateNumberOfMessagesDelayed
}

func (q *queue) counts() Counts {
	return Counts{
		Visible:  q.stored - q.delays.count - uint64(q.inFlight),
		InFlight: uint64(q.inFlight),
		Delayed:  q.delays.count,
	}
}

// sequence returns the SequenceNumber of an indexed position. It has 20 digits and
// grows within the queue, and also from a queue to its successor of the same name.
func (q *queue) sequence(p Position) uint64 {
	const base = 10_000_000_000_000_000_000
	return base + uint64(q.cfg.Created)<<20 + uint64(p&^indexedBit)
}
