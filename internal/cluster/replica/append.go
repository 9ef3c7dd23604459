package replica

import (
	"errors"
	"fmt"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
)

// submit accepts a commit from the owner of an epoch, unless that ownership has ended.
func (m *machine) submit(o *Ownership, c *commit) {
	if !m.owns() || m.tenure.ownership != o {
		c.done(fmt.Errorf("%w: shard %s is not owned here", ErrDeposed, m.name))
		return
	}
	m.appends.add(c)
	m.appends.launchNext(m.state.Mark(), m.tenure.lease)
}

// onAppended receives the outcome of an append. After a conflict, the machine reads which record is in that place.
func (m *machine) onAppended(ticket uint64, err error) {
	if !m.appends.awaits(ticket) {
		return
	}
	switch {
	case err == nil:
		m.stored()
	case errors.Is(err, sharedlog.ErrConflict):
		m.appends.resolving = true
		m.startRead()
	default:
		m.appends.retryLater()
	}
}

// tickFlight gives up an append whose outcome has been unknown for too long, or makes another attempt.
func (m *machine) tickFlight() {
	switch {
	case m.appends.isOverdue():
		m.lose(fmt.Errorf("an append has been unresolved for %v", m.giveUp))
		// Another node may be able to append. It needs longer for its turn than lose holds this one off: about a
		// tenth of the lease for each candidate before it.
		m.candidacy.wait(m.ttl)
	case !m.appends.takeRetry():
	case m.appends.resolving:
		m.startRead()
	default:
		m.appends.send()
	}
}

// resolved acts on the records in the place of a flight that the log refused.
func (m *machine) resolved(records []sharedlog.Record, err error) {
	switch m.appends.resolve(records, err) {
	case stored:
		m.stored()
	case refused:
		m.refused()
	case unresolved: // another attempt follows
	}
}

// stored applies the record in flight, which the log has, and answers the caller.
func (m *machine) stored() {
	f := m.appends.takeFlight()
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
		m.claimed(next.Epoch)
		return
	}
	m.tenure.prove(f.lease)
	f.commit.done(nil)
	m.appends.launchNext(m.state.Mark(), m.tenure.lease)
}

// refused abandons the record in flight, because another node's record is in its place.
func (m *machine) refused() {
	if m.role == Claiming {
		m.appends.takeFlight()
		m.role = CatchingUp
		m.startRead()
		return
	}
	m.lose(errors.New("another node has appended to its log"))
}
