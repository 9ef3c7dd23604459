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

// claim appends the record that makes this node the owner of the next epoch.
func (m *machine) claim() {
	m.reads.unfollow()
	m.role = Claiming
	m.appends.claim(m.state.Mark(), m.tenure.lease)
}

// claimed makes this node the owner, because its claim is in the log and applied.
func (m *machine) claimed(epoch uint64) {
	m.role = Opening
	m.tenure.own(m.owner(epoch))
	m.asking = m.newTicket()
	m.effects.claimed(m.asking)
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
	m.asking = m.service.open(m.tenure.ownership)
}

// onOpened reports that the host serves, or why it cannot.
func (m *machine) onOpened(ticket uint64, err error) {
	if ticket != m.asking || m.role != Opening {
		return
	}
	m.asking = 0
	if err != nil {
		m.service.ended()
		m.lose(fmt.Errorf("it could not be opened: %w", err))
		m.candidacy.wait(m.ttl) // another node may be able to
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
	m.reads.awaited, m.asking, m.retry = 0, 0, time.Time{}
	m.tenure.resign()
	m.candidacy.reset()
	m.candidacy.waitAtLeast(5 * m.again)
	m.role = Follower
	if m.service.running {
		m.role = Leaving
		m.service.stop()
	}
	if owned && !errors.Is(err, errHandedOver) {
		m.effects.report("shard is no longer owned here", err)
	}
	m.handedOver()
}

// giveUpCommits ends the ownership, and answers all callers that wait for a commit with ErrDeposed.
func (m *machine) giveUpCommits(reason error) {
	err := fmt.Errorf("%w: %w", ErrDeposed, reason)
	m.tenure.end(err)
	m.appends.abandon(err)
}

// errHandedOver is the reason why a node that handed over is no longer the owner.
var errHandedOver = errors.New("it was handed over")

// onStopped reports that no more requests are answered.
func (m *machine) onStopped() {
	m.service.ended()
	switch m.role {
	case Draining:
		m.lose(errHandedOver)
	case Leaving:
		m.role = Follower
		m.reads.follow = m.now
	}
	m.handedOver()
}

// handOver gives up the shard: the machine stops accepting commits, finishes those that it has accepted, and releases
// the lease. done is called at the end, or at once if there is nothing to hand over.
func (m *machine) handOver(done func(error)) {
	m.candidacy.wait(2 * m.ttl)
	m.handOvers = append(m.handOvers, done)
	switch m.role {
	case Owner:
		m.role = Draining
		m.service.stop()
	case Draining, Leaving:
	default:
		m.lose(errors.New("it is handed over to another node"))
	}
	m.handedOver()
}

// handedOver ends the hand-overs once nothing answers requests any more and all leases are given back.
func (m *machine) handedOver() {
	if m.service.running || len(m.tenure.releasing) > 0 {
		return
	}
	waiting := m.handOvers
	m.handOvers = nil
	for _, done := range waiting {
		done(nil)
	}
}
