package replica

import (
	"errors"
	"fmt"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
)

// startReading reads the records behind the last applied one, and returns the ticket.
func (m *machine) startReading() uint64 {
	t := m.newTicket()
	m.readFrom[t] = m.at() + 1
	m.effects.read(t, m.at()+1)
	return t
}

// startRead begins the read that the role waits for.
func (m *machine) startRead() { m.reading = m.startReading() }

// onRead receives the records behind a position, and the extent of the log.
func (m *machine) onRead(ticket uint64, records []sharedlog.Record, extent sharedlog.Extent, err error) {
	from := m.readFrom[ticket]
	delete(m.readFrom, ticket)
	if ticket == m.probing {
		m.probing = 0
	}
	awaited := ticket == m.reading
	if awaited {
		m.reading = 0
	}
	if m.role == Stopped || m.role == Fetching {
		return
	}
	if err == nil || errors.Is(err, sharedlog.ErrTrimmed) {
		if extent.Last >= m.extent.Last {
			m.extent = extent
		}
		if extent.Last+1 < from {
			m.halt(
				fmt.Errorf(
					"%w: the store has applied %d records, the log ends at %d", ErrDiverged, from-1, extent.Last,
				),
			)
			return
		}
	}
	if m.mayApply() {
		for _, r := range records {
			if !m.apply(r) {
				return
			}
		}
		if errors.Is(err, sharedlog.ErrTrimmed) && from > m.at() {
			m.fetch(err)
			return
		}
	} else if m.flight == nil && m.owns() && err == nil && len(records) > 0 && records[0].Position == m.at()+1 {
		m.lose(errors.New("the log goes on without it"))
		return
	}
	if awaited {
		m.readOn(records, extent, err)
	}
}

// readOn continues the step that the role was reading for.
func (m *machine) readOn(records []sharedlog.Record, extent sharedlog.Extent, err error) {
	switch {
	case m.resolving:
		m.resolved(records, err)
	case m.role == Scouting && (err != nil || !m.candidate):
		m.role = Follower
	case m.role == Scouting && m.at() < extent.Last:
		m.startRead()
	case m.role == Scouting:
		m.asking = m.newTicket()
		m.effects.prepare(m.asking)
	case m.role == CatchingUp && err != nil:
		m.retry = m.now.Add(m.again)
	case m.role == CatchingUp && m.at() < extent.Last:
		m.startRead()
	case m.role == CatchingUp:
		m.claim()
	}
}

// apply applies a record that is not the one in flight. It reports whether the next record can be applied too.
func (m *machine) apply(r sharedlog.Record) bool {
	if r.Position <= m.at() {
		return true
	}
	if r.Position > m.at()+1 {
		return false
	}
	rec, err := decode(r.Data)
	if err != nil {
		m.halt(fmt.Errorf("record %d: %w", r.Position, err))
		return false
	}
	mark := m.state.Mark()
	if err := rec.follows(mark); err != nil {
		if mark.Position == 0 && mark.Hash == 0 && rec.kind == claim && rec.chain != 0 {
			m.fetch(errors.New("the log begins with a store that was there before"))
		} else {
			m.halt(fmt.Errorf("record %d: %w", r.Position, err))
		}
		return false
	}
	if err := m.state.Apply(rec.changes, rec.mark(mark)); err != nil {
		m.halt(fmt.Errorf("record %d: %w", r.Position, err))
		return false
	}
	if err := m.advanced(&rec); err != nil {
		m.halt(err)
		return false
	}
	return true
}

// advanced records that the store has applied one more record.
func (m *machine) advanced(r *record) error {
	mark := m.state.Mark()
	if at := position(mark); m.extent.Last < at {
		m.extent.Last = at
	}
	m.sample(mark)
	if err := m.applied(r, mark); err != nil {
		return fmt.Errorf("record %d: %w", mark.Position, err)
	}
	return nil
}

// onFollowed receives the next record of the log.
func (m *machine) onFollowed(ticket uint64, r sharedlog.Record) {
	if ticket == m.following && m.mayApply() {
		m.apply(r)
	}
}

// onFollowEnded reports that the follow has ended.
func (m *machine) onFollowEnded(ticket uint64, err error) {
	if ticket != m.following {
		return
	}
	m.following = 0
	m.follow = m.now.Add(m.again)
	if errors.Is(err, sharedlog.ErrTrimmed) && m.mayApply() {
		// A read finds out whether that is so, and up to which position.
		m.probe = m.now
	}
}

// unfollow ends the current follow; the next one may begin at once.
func (m *machine) unfollow() {
	if m.following != 0 {
		m.following = 0
		m.effects.unfollow()
	}
	m.follow = m.now
}
