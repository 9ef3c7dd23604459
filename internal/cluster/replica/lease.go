package replica

import (
	"errors"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
)

// onLeaseChecked receives whether a node holds the lease. If none does, a candidate waits for its delay and then begins
// to scout.
func (m *machine) onLeaseChecked(held bool, err error) {
	m.checking = false
	if err != nil || held || !m.maySeek() {
		m.free = time.Time{}
		return
	}
	if m.free.IsZero() {
		m.free = m.now
	}
	if wait := m.free.Add(m.delay); m.now.Before(wait) {
		if wait.Before(m.nextCheck) {
			m.nextCheck = wait
		}
		return
	}
	// Candidates read the log to its end before they take the lease, so the one that is least behind is the first.
	m.role = Scouting
	m.startRead()
}

// onTaken receives the lease, or the reason for a refusal. It returns a lease that came too late.
func (m *machine) onTaken(ticket uint64, l sharedlog.Lease, err error) {
	if ticket == m.retaking && m.owns() {
		m.retaken(l, err)
		return
	}
	if ticket != m.asking || m.role != Taking {
		if err == nil {
			m.giveBack(l)
		}
		return
	}
	m.asking = 0
	m.free = time.Time{}
	if err != nil {
		m.role = Follower
		return
	}
	m.lease, m.until = l, m.renewSent.Add(m.ttl)
	m.renewing, m.renew = 0, aligned(m.renewSent, m.ttl/3)
	m.role = CatchingUp
	m.startRead()
}

// retaken receives the lease that an owner had lost, or the reason for a refusal. After a refusal the owner tries
// again: the node that holds the lease now either claims the shard, and so deposes this one, or lets the lease expire.
//
// Meanwhile another node may have held the lease, claimed the shard, and died or handed it over. So the lease alone
// does not prove the ownership: the log must also contain a record that this owner appended while it held the lease;
// see prove. Until then Ownership.Confirm appends one.
func (m *machine) retaken(l sharedlog.Lease, err error) {
	m.retaking = 0
	if err != nil {
		m.renew = m.now.Add(m.again)
		return
	}
	m.lease, m.until, m.proven = l, m.renewSent.Add(m.ttl), false
	m.renew = m.now // so that the lease shows the epoch
}

// prove records that the log has a record that the owner appended while it held a lease.
func (m *machine) prove(held sharedlog.Lease) {
	if held != nil && held == m.lease && !m.proven {
		m.proven = true
		m.extend()
	}
}

// extend lets the owner answer from memory until shortly before the end of its lease.
func (m *machine) extend() {
	if m.ownership != nil && m.proven {
		m.ownership.extend(m.renewSent, m.until.Add(-m.margin))
	}
}

// onRenewed receives whether the lease was extended.
func (m *machine) onRenewed(ticket uint64, err error) {
	if ticket != m.renewing || m.lease == nil {
		return
	}
	m.renewing = 0
	switch {
	case err == nil:
		m.until = m.renewSent.Add(m.ttl)
		m.renew = aligned(m.renewSent, m.ttl/3)
		m.extend()
	case errors.Is(err, sharedlog.ErrLost) && m.owns():
		// Only the log can depose an owner. The leases may just have been unavailable for too long.
		m.lease = nil
		m.renew = m.now
	case errors.Is(err, sharedlog.ErrLost):
		m.leaseLost(err)
	default:
		m.renew = m.now.Add(m.again)
	}
}

// epochHeld returns the epoch to show in the lease; 0 before the claim.
func (m *machine) epochHeld() uint64 {
	if m.ownership == nil {
		return 0
	}
	return m.ownership.epoch
}

// leaseLost ends the attempt of a candidate that no longer holds the lease.
func (m *machine) leaseLost(err error) {
	m.lease = nil
	m.renewing = 0
	m.lose(err)
}

// giveBack releases a lease, which may have run out already.
func (m *machine) giveBack(l sharedlog.Lease) {
	t := m.newTicket()
	m.releasing[t] = true
	m.effects.release(t, l)
}

// onReleased receives that a lease was released, or that the release failed and the lease will run out.
func (m *machine) onReleased(ticket uint64, _ error) {
	delete(m.releasing, ticket)
	m.handedOver()
}
