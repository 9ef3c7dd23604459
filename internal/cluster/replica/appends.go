package replica

import (
	"errors"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/store"
)

// appends are the records that this node puts into the log, and the callers that wait for them. They do not apply
// records.
//
//   - One append is in flight at a time. It expects the log to end at the store's position.
//   - After an append with an unknown outcome, the same record is appended again until the log answers. If the log
//     refuses, the record at that position decides: the flight's own nonce means that an earlier attempt was stored.
//   - Each commit is answered once: by the caller of takeFlight, or by abandon.
type appends struct {
	*base
	node      string // this one
	nonce     func() uint64
	flight    *flight // the append with an unknown outcome, or nil
	resolving bool    // the log refused it, and is read to find out whether it was stored
	queue     []*commit
}

// commit is a transaction that waits to be made durable.
type commit struct {
	changes []byte
	apply   func(m store.Mark) error
	done    func(error) // answers the caller; called once
	since   time.Time   // set by submit
}

// flight is the append with an unknown outcome.
type flight struct {
	ticket uint64
	after  sharedlog.Position
	record record
	data   []byte
	commit *commit         // nil for a claim
	lease  sharedlog.Lease // the lease that the node held when it began, or nil
	since  time.Time       // time of the request
	retry  time.Time       // time of the next attempt; zero: one is in progress
}

// add queues a commit.
func (a *appends) add(c *commit) {
	c.since = a.now
	a.queue = append(a.queue, c)
}

// launchNext appends the next commit to a log that ends at mark, unless an append is in flight. held is the lease that
// the node holds, or nil.
func (a *appends) launchNext(mark store.Mark, held sharedlog.Lease) {
	if a.flight != nil || len(a.queue) == 0 {
		return
	}
	c := a.queue[0]
	a.queue = a.queue[1:]
	a.launch(&flight{
		after: position(mark), commit: c, lease: held, since: c.since,
		record: record{
			kind: batch, epoch: mark.Epoch, owner: a.node, nonce: a.nonce(), chain: mark.Hash, changes: c.changes,
		},
	})
}

// claim appends the record that makes this node the owner of the epoch after mark.
func (a *appends) claim(mark store.Mark, held sharedlog.Lease) {
	a.launch(&flight{
		after: position(mark), lease: held, since: a.now,
		record: record{kind: claim, epoch: mark.Epoch + 1, owner: a.node, nonce: a.nonce(), chain: mark.Hash},
	})
}

// launch puts a record in flight.
func (a *appends) launch(f *flight) {
	f.data = f.record.encode()
	f.record.changes = f.data[len(f.data)-len(f.record.changes):] // the transaction's own may go
	a.flight, a.resolving = f, false
	a.send()
}

// send appends the record in flight, for the first time or again.
func (a *appends) send() {
	f := a.flight
	f.ticket = a.newTicket()
	a.effects.append(f.ticket, f.after, f.data)
}

// awaits reports whether the last append of the record in flight has a ticket.
func (a *appends) awaits(ticket uint64) bool { return a.flight != nil && a.flight.ticket == ticket }

// isOverdue reports whether the outcome has been unknown for too long.
func (a *appends) isOverdue() bool { return a.flight != nil && a.now.Sub(a.flight.since) >= a.giveUp }

// retryLater makes another attempt due after a pause.
func (a *appends) retryLater() { a.flight.retry = a.now.Add(a.again) }

// takeRetry reports whether another attempt is due, once.
func (a *appends) takeRetry() bool {
	f := a.flight
	if f == nil || f.retry.IsZero() || !a.isDue(f.retry) {
		return false
	}
	f.retry = time.Time{}
	return true
}

// outcome is what is known of the record in flight.
type outcome int

const (
	unresolved outcome = iota
	stored             // the log has it
	refused            // another node's record is in its place
)

// resolve decides a conflict from the records that the log holds from the place of the flight on. The first may be the
// flight itself, stored by an earlier attempt.
func (a *appends) resolve(records []sharedlog.Record, err error) outcome {
	switch {
	case errors.Is(err, sharedlog.ErrTrimmed):
		return refused
	case err != nil:
		a.retryLater()
		return unresolved
	case len(records) == 0:
		// The log refused because it ends elsewhere, but has no record in that place: an earlier attempt is still about
		// to succeed or fail. Append again.
		a.resolving = false
		a.retryLater()
		return unresolved
	}
	there, err := decode(records[0].Data)
	if err == nil && there.nonce == a.flight.record.nonce && there.sum == a.flight.record.sum {
		return stored
	}
	return refused
}

// takeFlight ends the flight, whose outcome is known now.
func (a *appends) takeFlight() *flight {
	f := a.flight
	a.flight, a.resolving = nil, false
	return f
}

// abandon answers all callers that wait for a commit. Whether the record in flight was stored stays unknown.
func (a *appends) abandon(err error) {
	if a.flight != nil {
		f := a.takeFlight()
		a.effects.abandon()
		if f.commit != nil {
			f.commit.done(err)
		}
	}
	queue := a.queue
	a.queue = nil
	for _, c := range queue {
		c.done(err)
	}
}

// next returns when the outcome is overdue or another attempt is due, or zero.
func (a *appends) next() time.Time {
	if a.flight == nil {
		return time.Time{}
	}
	return soonest(a.flight.since.Add(a.giveUp), a.flight.retry)
}
