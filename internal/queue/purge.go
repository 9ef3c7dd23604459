package queue

import (
	"fmt"
	"slices"
)

// Purging is a purge of a queue. It may take several calls of Engine.Purge, each in its own transaction, because the
// backlog may hold more copies than one transaction can rewrite. The copies in the backlog are removed first. The last
// call removes the messages of the queue and of its outbox, and with them the copies that were made between two calls.
// So no purged message returns, even if the purge is interrupted.
type Purging struct {
	Queue ID
	// OutboxOnly keeps the messages of the queue itself.
	OutboxOnly bool
	// Bytes is the approximate size of the messages of the queue itself, for Kept. The caller measures it, because the
	// engine does not know it. 0 means unknown.
	Bytes uint64
	// Marks are the positions of the outboxes of other shards when they were purged. Messages that arrive from there
	// later, up to these marks, were purged on their way, and are skipped.
	Marks []Mark
	// Here names the shard of the queue itself: messages in its own outbox for the queue may be on their way, too. Zero
	// means that it forwards nothing to itself.
	Here FromShard

	Done bool
	// When Done, Last is the position of the newest message that was ever in the outbox of the queue, or 0.
	Last Position

	begun     bool
	next, end uint64 // publications of the backlog to examine
}

// Mark is a position in the outbox of another shard.
type Mark struct {
	From FromShard
	UpTo Position
}

// Purge removes all messages of a queue, including those in flight and delayed, and removes its deduplication ids. The
// caller passes the result to the next call until it is Done. A second purge within PurgeInterval, or during an undo of
// the first, returns ErrPurgeInProgress, unless the queue is configured to be purged at any time. The outbox of a queue
// can be purged at any time.
//
// With KeepPurged, a purge keeps the messages of the queue itself for UndoPurge.
func (e *Engine) Purge(p Purging) (Purging, error) {
	o := e.outboxes.at[p.Queue]
	if o != nil && o.sealed || e.queues[p.Queue] != nil && e.queues[p.Queue].cfg.Sealed {
		return p, ErrSealed
	}
	var q *queue
	if !p.OutboxOnly {
		var err error
		if q, err = e.toPurge(p.Queue); err != nil {
			return p, err
		}
	}
	if all, err := e.backlog.purge(&p); !all || err != nil {
		return p, err
	}
	if o != nil {
		o.purge()
		p.Last = o.last
	}
	p.Done = true
	if q == nil {
		return p, nil
	}
	marks := p.Marks
	if p.Here != (FromShard{}) && p.Last > 0 {
		marks = append(slices.Clip(marks), Mark{From: p.Here, UpTo: p.Last})
	}
	return p, firstError(q.purge(p.Bytes), q.arrivals.leaveOut(marks))
}

// MayPurge returns the refusal that Purge would return now, and purges nothing.
func (e *Engine) MayPurge(id ID) error {
	_, err := e.toPurge(id)
	return err
}

// toPurge returns the queue that a purge empties, or nil if there is only its outbox.
func (e *Engine) toPurge(id ID) (*queue, error) {
	q, err := e.queueAtPresent(id)
	switch {
	case err != nil && (e.outboxes.at[id] == nil || !IsRefusal(err)):
		return nil, err
	case q != nil && !q.cfg.PurgeAnytime &&
		(q.purged != 0 && e.now < q.purged.Add(PurgeInterval) || q.kept.undoes()):
		return nil, ErrPurgeInProgress
	}
	return q, nil
}

// purge removes waiting copies for a queue, and reports whether it has removed all. It keeps copies of publications
// that arrived after the purge began.
func (b *backlog) purge(p *Purging) (all bool, err error) {
	if !p.begun {
		p.begun, p.next, p.end = true, b.head, b.end
	}
	for p.next = max(p.next, b.head); p.next < p.end && b.copies[p.Queue] > 0; {
		rewritten, err := b.purgeOne(p.next, p.Queue)
		if err != nil {
			return false, err
		}
		if p.next++; rewritten && b.Full() {
			return false, nil
		}
	}
	return true, nil
}

// purgeOne removes the copies of a publication for a queue, and reports whether there were any.
func (b *backlog) purgeOne(n uint64, id ID) (rewritten bool, err error) {
	x, err := b.read(n)
	if err != nil {
		return false, err
	}
	done, all := b.done(n), x.Copies
	x.Copies = slices.Clone(all[:done])
	for i := range all[done:] {
		if c := &all[done:][i]; c.Queue == id {
			b.uncount(c)
		} else {
			x.Copies = append(x.Copies, *c)
		}
	}
	if len(x.Copies) == len(all) {
		return false, nil
	}
	b.tx.Set(publicationKey(n), encodeBacklogged(x))
	b.first = nil
	return true, nil
}

// purge drops all messages, deduplication ids and receive attempts, or keeps them. If there are no messages, the
// messages that an earlier purge has kept stay. bytes is the size of the messages, or 0 if it is unknown.
func (q *queue) purge(bytes uint64) error {
	switch keep := q.e.keepsPurged() && !q.cfg.Internal && !q.kept.undoes(); {
	case keep && q.stored > 0:
		q.dropKept()
		q.keepAll(bytes)
	case keep && q.kept.since != 0:
		q.dedup.forget(q.index.sequence(q.index.last), q.held.receipts)
	default:
		if err := q.dropAll(); err != nil {
			return fmt.Errorf("purge: %w", err)
		}
	}
	q.messages.purge()
	q.purged = q.now
	return nil
}

// dropAll removes the data of all messages, including kept ones.
func (q *queue) dropAll() error {
	if err := q.dedup.purge(); err != nil {
		return err
	}
	for _, table := range []byte{tableMessage, tableMember, tableGroup, tableRota} {
		q.tx.DeleteRange(tableRange(q.cfg.ID, table))
	}
	for _, table := range editions {
		q.tx.DeleteRange(q.rows.tableRange(q.cfg.ID, table))
	}
	if q.kept.since != 0 {
		q.kept.dropRows()
		q.kept.keptRecord, q.kept.promised = keptRecord{}, 0
	}
	return nil
}
