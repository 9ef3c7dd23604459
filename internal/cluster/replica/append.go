package replica

import (
	"errors"
	"fmt"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/store"
)

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

// submit accepts a commit from the owner of an epoch, unless that ownership has ended.
func (m *machine) submit(o *Ownership, c *commit) {
	if !m.owns() || m.ownership != o {
		c.done(fmt.Errorf("%w: shard %s is not owned here", ErrDeposed, m.name))
		return
	}
	c.since = m.now
	m.queue = append(m.queue, c)
	m.launchNext()
}

// launchNext appends the next commit, unless an append is in flight.
func (m *machine) launchNext() {
	if m.flight != nil || len(m.queue) == 0 {
		return
	}
	c := m.queue[0]
	m.queue = m.queue[1:]
	mark := m.state.Mark()
	m.launch(record{
		kind: batch, epoch: mark.Epoch, owner: m.node, nonce: m.nonce(), chain: mark.Hash, changes: c.changes,
	}, c)
}

// launch puts a record in flight. c is nil for a claim.
func (m *machine) launch(r record, c *commit) {
	f := &flight{after: m.at(), record: r, commit: c, lease: m.lease, since: m.now}
	f.data = f.record.encode()
	f.record.changes = f.data[len(f.data)-len(r.changes):] // the transaction's own may go
	if c != nil {
		f.since = c.since
	}
	m.flight, m.resolving = f, false
	m.append()
}

// append sends the record in flight, for the first time or again.
func (m *machine) append() {
	f := m.flight
	f.ticket = m.newTicket()
	m.effects.append(f.ticket, f.after, f.data)
}

// onAppended receives the outcome of an append. After a conflict, the machine reads which record is in that place.
func (m *machine) onAppended(ticket uint64, err error) {
	f := m.flight
	if f == nil || ticket != f.ticket {
		return
	}
	switch {
	case err == nil:
		m.stored()
	case errors.Is(err, sharedlog.ErrConflict):
		m.resolving = true
		m.startRead()
	default:
		f.retry = m.now.Add(m.again)
	}
}

// resolved decides a conflict from the record that the log holds in the place of the flight. It may be the flight
// itself, stored by an earlier attempt.
func (m *machine) resolved(records []sharedlog.Record, err error) {
	f := m.flight
	switch {
	case errors.Is(err, sharedlog.ErrTrimmed):
		m.refused()
	case err != nil:
		f.retry = m.now.Add(m.again)
	case len(records) == 0:
		// The log refused because it ends elsewhere, but has no record in that place: an earlier attempt is still about
		// to succeed or fail. Append again.
		m.resolving = false
		f.retry = m.now.Add(m.again)
	default:
		there, err := decode(records[0].Data)
		if err == nil && there.nonce == f.record.nonce && there.sum == f.record.sum {
			m.stored()
		} else {
			m.refused()
		}
	}
}

// stored applies the record in flight, which the log has, and answers the caller.
func (m *machine) stored() {
	f := m.flight
	m.flight, m.resolving = nil, false
	mark := m.state.Mark()
	next := f.record.mark(mark)
	var err error
	if f.commit == nil {
		err = m.state.Apply(nil, next)
	} else {
		err = f.commit.apply(next)
	}
	if err != nil {
		err = fmt.Errorf("record %d is in the log and could not be applied: %w", next.Position, err)
	} else {
		err = m.advanced(&f.record)
	}
	if err != nil {
		// The record is in the log, so other replicas will apply it. This one could not, and must not continue.
		if f.commit != nil {
			f.commit.done(fmt.Errorf("%w: %w", ErrDeposed, err))
		}
		m.halt(err)
		return
	}
	if f.commit == nil {
		m.role = Opening
		m.ownership, m.proven = m.owner(next.Epoch), true
		m.extend()
		m.asking = m.newTicket()
		m.effects.claimed(m.asking)
		m.renew = m.now // so that the lease shows the epoch
		return
	}
	m.prove(f.lease)
	f.commit.done(nil)
	m.launchNext()
}

// refused abandons the record in flight, because another node's record is in its place.
func (m *machine) refused() {
	if m.role == Claiming {
		m.flight, m.resolving = nil, false
		m.role = CatchingUp
		m.startRead()
		return
	}
	m.lose(errors.New("another node has appended to its log"))
}
