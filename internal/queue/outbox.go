package queue

import (
	"fmt"
	"time"

	"github.com/sluicemq/sluice/internal/formats"
)

// outbox holds the messages that this shard has redriven, moved or published to a queue that another shard serves. A
// message leaves its old queue and joins the outbox in one transaction, so it is in one place at any time. It stays in
// the outbox, in order, until the other shard has accepted it. The other shard recognises repetitions by the message's
// position.
//
// A queue that this shard serves also has an outbox if another shard served it before, or if other shards serve some of
// its message groups.
//
// Consumers do not receive from an outbox, and nothing expires there: an old message expires after the other shard has
// accepted it. An outbox that has never held a message has no record, only this struct in memory.
type outbox struct {
	*outboxes
	id   ID
	arn  string
	fifo bool
	outboxRecord

	sealed bool // as Config.Sealed of the queue, if another shard serves it
	dirty  bool // the record must be written
	own    bool // messages for this shard may be among those that wait; see forGroup
}

// outboxes are the outboxes of a shard, by the ids of their queues.
//
//   - An outbox enters ready when it becomes non-empty, and when it is loaded with messages.
//   - An outbox is in changed exactly if it is dirty.
type outboxes struct {
	*transaction
	at      map[ID]*outbox
	ready   []ID      // queues whose outboxes have become non-empty, see Engine.OutboxReady
	changed []*outbox // whose records must be written
}

// add adds an empty outbox.
func (x *outboxes) add(cfg *Config) *outbox {
	o := &outbox{outboxes: x, id: cfg.ID, arn: cfg.ARN, fifo: cfg.FIFO, sealed: cfg.Elsewhere && cfg.Sealed}
	x.at[o.id] = o
	return o
}

// save writes the records that have changed.
func (x *outboxes) save() (wrote bool) {
	for _, o := range x.changed {
		wrote = o.save() || wrote
	}
	x.changed = x.changed[:0]
	return wrote
}

// load loads the outbox of a queue that this shard serves, if there is one.
func (x *outboxes) load(cfg *Config) error {
	b, err := x.tx.Get(outboxKey(cfg.ID))
	if b == nil || err != nil {
		return err
	}
	return x.add(cfg).load()
}

// waiting returns how many messages wait in the outbox of a queue.
func (x *outboxes) waiting(id ID) uint64 {
	if o := x.at[id]; o != nil {
		return o.stored
	}
	return 0
}

// outboxRecord is the part of an outbox's state that is stored.
type outboxRecord struct {
	head   Position // no stored message is before it
	last   Position // of the newest message, 0 if there never was one
	stored uint64
	copies bool // it has held copies of publications, which older programs cannot read
}

// outboxVersion is the version of the record of an outbox with copies. Without them the record has recordVersion, which
// older programs can read.
const outboxVersion = 2

func (o *outboxRecord) encode() []byte {
	w := newRecord(24)
	if o.copies {
		w.Writer[0] = outboxVersion
	}
	w.Uint(uint64(o.head))
	w.Uint(uint64(o.last))
	w.Uint(o.stored)
	return w.Writer
}

func (o *outboxRecord) decode(b []byte) error {
	r := readRecordUpTo(outboxVersion, b)
	*o = outboxRecord{head: Position(r.Uint()), last: Position(r.Uint()), stored: r.Uint()}
	o.copies = !r.Failed() && b[0] == outboxVersion
	return r.done("outbox")
}

// destination is where this shard can redrive or move a message to: a queue, or the outbox of a queue.
type destination interface {
	queueID() ID
	isFIFO() bool
	// accept accepts m, which becomes available at due.
	accept(m *Message, due Instant) error
	// sendCopy accepts a copy of a publication.
	sendCopy(m *Outgoing) error
}

func (q *queue) queueID() ID   { return q.cfg.ID }
func (o *outbox) queueID() ID  { return o.id }
func (q *queue) isFIFO() bool  { return q.cfg.FIFO }
func (o *outbox) isFIFO() bool { return o.fifo }

// outboxPosition is the minimum position of a message at an instant. Positions grow because the outbox stores its last
// one, and a snapshot of all shards has no position on the other shard that it lacks here: that shard skips a message
// whose position it has seen. That they are derived from the clock as well protects shards of older backups.
func outboxPosition(now Instant) Position {
	const bits = 16 // for the messages of one millisecond; further messages use the positions of the next
	return Position(now) << bits
}

// accept puts m at the end of the outbox. The queue itself applies a delay.
func (o *outbox) accept(m *Message, _ Instant) error {
	o.put(Transfer{Message: *m})
	return nil
}

// put assigns a position to t, and stores it.
func (o *outbox) put(t Transfer) {
	o.last = max(o.last+1, outboxPosition(o.now))
	if o.stored == 0 {
		o.head = o.last
		o.ready = append(o.ready, o.id)
	}
	o.stored++
	if t.Copy {
		o.copies = true
		o.needs(formats.Topics)
	}
	o.needsFor(t.Message.Attributes)
	o.scratch = t.encode(o.scratch)
	o.tx.Set(outboxMessageKey(o.id, o.last), o.scratch)
	o.markDirty()
}

// markDirty makes End write the record.
func (o *outbox) markDirty() {
	if !o.dirty {
		o.dirty = true
		o.outboxes.changed = append(o.outboxes.changed, o)
	}
}

// save writes the record if it is dirty.
func (o *outbox) save() (wrote bool) {
	if wrote = o.dirty; wrote {
		o.tx.Set(outboxKey(o.id), o.outboxRecord.encode())
		o.dirty = false
	}
	return wrote
}

// purge deletes all messages. The position of the newest one stays, so that later messages have greater ones.
func (o *outbox) purge() {
	if o.stored == 0 {
		return
	}
	o.tx.DeleteRange(tableRange(o.id, tableOutboxMessage))
	o.head, o.stored, o.own = o.last+1, 0, false
	o.markDirty()
}

// sealedPause is how long a message for a sealed queue waits before the next attempt. Queues are sealed only for a
// moment, before they are opened again or deleted.
const sealedPause = time.Second

// forGroup returns the queue, or its outbox if another shard serves the group. Messages for this shard wait in the
// outbox as well if they came while the queue was unknown or on the shelf. In a FIFO queue, later ones go behind them.
func (q *queue) forGroup(group string) destination {
	o := q.e.outboxes.at[q.cfg.ID]
	switch {
	case q.cfg.serves(group) && (o == nil || !o.own || !q.cfg.FIFO):
		return q
	case o != nil:
		return o
	}
	return q.e.outboxes.add(&q.cfg)
}

// loadAlone is load for the outbox of a queue that this shard does not serve. If the queue itself has a record, this
// shard did serve it, and its messages must not be ignored.
func (o *outbox) loadAlone() error {
	if b, err := o.tx.Get(metaKey(o.id)); b != nil || err != nil {
		return firstError(err, ErrElsewhere)
	}
	return o.load()
}

// load reads the record of an outbox of which something is stored.
func (o *outbox) load() error {
	b, err := o.tx.Get(outboxKey(o.id))
	if err != nil {
		return err
	}
	if b == nil {
		return fmt.Errorf("the record of the outbox: %w", errMissing)
	}
	if err := o.decode(b); err != nil || o.stored == 0 {
		return err
	}
	if o.copies {
		o.needs(formats.Topics)
	}
	o.own = true
	o.ready = append(o.ready, o.id)
	found := false
	_, end := tableRange(o.id, tableOutboxMessage)
	err = o.tx.Scan(outboxMessageKey(o.id, o.head), end, func(_, _ []byte) bool { found = true; return false })
	if err == nil && !found {
		err = fmt.Errorf("messages of the outbox: %w", errMissing)
	}
	return err
}
