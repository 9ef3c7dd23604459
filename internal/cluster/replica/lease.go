package replica

import (
	"errors"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
)

// maySeek reports whether the machine may try to become the owner. Not while it hands over: it waits for the release of
// its lease, and the caller for both.
func (m *machine) maySeek() bool {
	return m.role == Follower && m.candidacy.candidate && len(m.handOvers) == 0
}

// nudge makes a candidate take the lease now, without its delay: the owner has just released it. It skips the preceding
// steps, which choose among several candidates and avoid delays for others. If the lease is still held, the candidate
// continues to check it.
func (m *machine) nudge() {
	m.candidacy.hurry()
	if m.maySeek() {
		m.take()
	}
}

// onLeaseChecked receives whether a node holds the lease. If none does, a candidate waits for its delay and then begins
// to scout.
func (m *machine) onLeaseChecked(held bool, err error) {
	if m.candidacy.checked(err == nil && !held && m.maySeek()) {
		// Candidates read the log to its end before they take the lease, so the one that is least behind is the first.
		m.role = Scouting
		m.startRead()
	}
}

// take requests the lease.
func (m *machine) take() {
	m.role = Taking
	m.asking = m.tenure.take()
}

// onTaken receives the lease, or the reason for a refusal. It returns a lease that came too late.
func (m *machine) onTaken(ticket uint64, l sharedlog.Lease, err error) {
	if ticket == m.tenure.retaking && m.owns() {
		m.tenure.retaken(l, err)
		return
	}
	if ticket != m.asking || m.role != Taking {
		if err == nil {
			m.tenure.giveBack(l)
		}
		return
	}
	m.asking = 0
	m.candidacy.reset()
	if err != nil {
		m.role = Follower
		return
	}
	m.tenure.begin(l)
	m.role = CatchingUp
	m.startRead()
}

// tickLease renews the lease, or ends the attempt of a candidate whose lease may have run out.
func (m *machine) tickLease() {
	if end := m.tenure.runsOut(); !end.IsZero() && m.isDue(end) {
		m.leaseLost(errors.New("its lease was not renewed in time"))
		return
	}
	m.tenure.renewIfDue()
}

// onRenewed receives whether the lease was extended. Only the log can depose an owner, but a candidate without the
// lease means none.
func (m *machine) onRenewed(ticket uint64, err error) {
	if ticket != m.tenure.renewing || m.tenure.lease == nil {
		return
	}
	m.tenure.renewed(err)
	if errors.Is(err, sharedlog.ErrLost) && !m.owns() {
		m.leaseLost(err)
	}
}

// leaseLost ends the attempt of a candidate that no longer holds the lease.
func (m *machine) leaseLost(err error) {
	m.tenure.forget()
	m.lose(err)
}

// onReleased receives that a lease was released, or that the release failed and the lease will run out.
func (m *machine) onReleased(ticket uint64, _ error) {
	delete(m.tenure.releasing, ticket)
	m.handedOver()
}
