package replica

import (
	"errors"
	"fmt"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
)

// startRead begins to read the records behind the last applied one. The role waits for them.
func (m *machine) startRead() { m.reads.await(m.at() + 1) }

// onRead receives the records behind a position, and the extent of the log.
func (m *machine) onRead(ticket uint64, records []sharedlog.Record, extent sharedlog.Extent, err error) {
	from, awaited := m.reads.answered(ticket)
	if m.role == Stopped || m.role == Fetching {
		return
	}
	if err == nil || errors.Is(err, sharedlog.ErrTrimmed) {
		if err := m.reads.saw(extent, from); err != nil {
			m.halt(err)
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
	} else if m.appends.flight == nil && m.owns() &&
		err == nil && len(records) > 0 && records[0].Position == m.at()+1 {
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
	case m.appends.resolving:
		m.resolved(records, err)
	case m.role == Scouting && (err != nil || !m.candidacy.candidate):
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
	m.reads.contains(position(mark))
	m.samples.add(mark)
	if err := m.applied(r, mark); err != nil {
		return fmt.Errorf("record %d: %w", mark.Position, err)
	}
	return nil
}

// onFollowed receives the next record of the log.
func (m *machine) onFollowed(ticket uint64, r sharedlog.Record) {
	if ticket == m.reads.following && m.mayApply() {
		m.apply(r)
	}
}

// onFollowEnded reports that the follow has ended. If the follow says that the log no longer has the next record, a
// probe finds out whether that is so, and up to which position.
func (m *machine) onFollowEnded(ticket uint64, err error) {
	if m.reads.followEnded(ticket) && errors.Is(err, sharedlog.ErrTrimmed) && m.mayApply() {
		m.reads.probe = m.now
	}
}
