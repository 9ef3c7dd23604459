package replica

import (
	"errors"
	"fmt"
	"time"
)

// onPrepared reports that the node is prepared to try to become the owner.
func (m *machine) onPrepared(ticket uint64, err error) {
	if ticket != m.asking || m.role != Scouting {
		return
	}
	m.asking = 0
	if err != nil {
		m.role = Follower
		return
	}
	m.take()
}

// take requests the lease.
func (m *machine) take() {
	m.role = Taking
	m.asking, m.renewSent = m.newTicket(), m.now
	m.effects.take(m.asking)
}

// claim appends the record that makes this node the owner of the next epoch.
func (m *machine) claim() {
	m.unfollow()
	m.role = Claiming
	mark := m.state.Mark()
	m.launch(record{kind: claim, epoch: mark.Epoch + 1, owner: m.node, nonce: m.nonce(), chain: mark.Hash}, nil)
}

// onReady reports that the new owner is ready to serve.
func (m *machine) onReady(ticket uint64, err error) {
	if ticket != m.asking || m.role != Opening {
		return
	}
	m.asking = 0
	if err != nil {
		m.lose(fmt.Errorf("it could not be prepared: %w", err))
		return
	}
	m.running, m.stopping = true, false
	m.asking = m.newTicket()
	m.effects.open(m.asking, m.ownership)
}

// onOpened reports that the host serves, or why it cannot.
func (m *machine) onOpened(ticket uint64, err error) {
	if ticket != m.asking || m.role != Opening {
		return
	}
	m.asking = 0
	if err != nil {
		m.running = false
		m.lose(fmt.Errorf("it could not be opened: %w", err))
		m.holdOff = m.now.Add(m.ttl) // another node may be able to
		return
	}
	m.role = Owner
}

// lose makes the replica a follower again, at once. From then on no call succeeds. The log will show whether the record
// in flight was stored.
func (m *machine) lose(err error) {
	switch m.role {
	case Follower, Leaving, Fetching, Stopped:
		return
	}
	owned := m.owns()
	m.giveUpCommits(err)
	m.reading, m.asking, m.retaking, m.retry = 0, 0, 0, time.Time{}
	if l := m.lease; l != nil {
		m.lease, m.renewing = nil, 0
		m.giveBack(l)
	}
	m.free = time.Time{}
	if until := m.now.Add(5 * m.again); m.holdOff.Before(until) {
		m.holdOff = until
	}
	m.role = Follower
	if m.running {
		m.role = Leaving
		m.stopRunning()
	}
	if owned && !errors.Is(err, errHandedOver) {
		m.effects.report("shard is no longer owned here", err)
	}
	m.handedOver()
}

// giveUpCommits ends the ownership, and answers all callers that wait for a commit with ErrDeposed.
func (m *machine) giveUpCommits(reason error) {
	err := fmt.Errorf("%w: %w", ErrDeposed, reason)
	if m.ownership != nil {
		m.ownership.end(err)
		m.ownership = nil
	}
	if f := m.flight; f != nil {
		m.flight, m.resolving = nil, false
		m.effects.abandon()
		if f.commit != nil {
			f.commit.done(err)
		}
	}
	queue := m.queue
	m.queue = nil
	for _, c := range queue {
		c.done(err)
	}
}

// errHandedOver is the reason why a node that handed over is no longer the owner.
var errHandedOver = errors.New("it was handed over")

// stopRunning stops the objects that answer requests, once.
func (m *machine) stopRunning() {
	if m.running && !m.stopping {
		m.stopping = true
		m.effects.stop()
	}
}

// onStopped reports that no more requests are answered.
func (m *machine) onStopped() {
	m.running, m.stopping = false, false
	switch m.role {
	case Draining:
		m.lose(errHandedOver)
	case Leaving:
		m.role = Follower
		m.follow = m.now
	}
	m.handedOver()
}

// handOver gives up the shard: the machine stops accepting commits, finishes those that it has accepted, and releases
// the lease. done is called at the end, or at once if there is nothing to hand over.
func (m *machine) handOver(done func(error)) {
	m.holdOff = m.now.Add(2 * m.ttl)
	m.handOvers = append(m.handOvers, done)
	switch m.role {
	case Owner:
		m.role = Draining
		m.stopRunning()
	case Draining, Leaving:
	default:
		m.lose(errors.New("it is handed over to another node"))
	}
	m.handedOver()
}

// handedOver ends the hand-overs once nothing answers requests any more and all leases are given back.
func (m *machine) handedOver() {
	if m.running || len(m.releasing) > 0 {
		return
	}
	waiting := m.handOvers
	m.handOvers = nil
	for _, done := range waiting {
		done(nil)
	}
}
