package replica

import (
	"time"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/store"
)

// machine is the protocol of one replica without goroutines, clocks, disks or networks. Each event is a method: on… for
// the answer of an effect, and tick, nudge, submit and handOver for calls from outside. The machine decides, and
// effects execute its decisions. A node and the simulation run the same code.
//
// The machine owns the role, and only it applies records. Each part keeps one thing for it, knows neither the role nor
// the other parts, and states its own rules. Those between the parts are:
//
//   - A commit is answered after the log has acknowledged its record and the store has applied it.
//   - Records of the log are applied only while no append is in flight and nothing answers from the store.
//   - A node that finds another node's record in the place of its own is no longer the owner.
//   - The role waits for at most one effect, asking, or for one read, reads.awaited.
//
// An owner that cannot renew its lease stays the owner, because only the log can depose it. Without a lease, it proves
// its ownership with a record in the log before it answers from memory; see Ownership.Confirm. After it has regained
// the lease, it does so once more, because another node may have owned the shard meanwhile.
type machine struct {
	*base
	identity
	role Role
	err  error // the reason for the role Stopped

	candidacy candidacy // when it tries to take the lease
	tenure    tenure    // the lease, and what it covers
	appends   appends   // its own records
	reads     reads     // of the log
	samples   samples   // of the store's hashes
	service   service   // what the host has opened

	asking    uint64        // ticket of the effect that the role waits for; 0: none
	retry     time.Time     // time of the next attempt of a failed read or fetch; zero: none
	failed    int           // consecutive failed fetches
	handOvers []func(error) // callers that wait until the shard is handed over
}

// identity says which replica a machine is of, and connects it with the replica's store and its users.
type identity struct {
	name  string // of the shard
	node  string // this one
	state state
	nonce func() uint64
	// owner makes the Ownership of an epoch.
	owner func(epoch uint64) *Ownership
	// applied is called for each record after the store has applied it, before any caller is answered. An error halts
	// the machine.
	applied func(r *record, m store.Mark) error
}

// newMachine returns the machine of a follower.
func newMachine(i identity, t timing, e effects) *machine {
	b := &base{timing: t, effects: e}
	return &machine{
		base: b, identity: i, role: Follower,
		candidacy: candidacy{base: b},
		tenure:    tenure{base: b, releasing: make(map[uint64]bool)},
		appends:   appends{base: b, node: i.node, nonce: i.nonce},
		reads:     reads{base: b, from: make(map[uint64]sharedlog.Position)},
		service:   service{base: b},
	}
}

// state is the part of the store that the machine uses.
type state interface {
	Mark() store.Mark
	Apply(changes []byte, m store.Mark) error
}

// at returns the position of the last record that the store has applied.
func (m *machine) at() sharedlog.Position { return position(m.state.Mark()) }

// owns reports whether the machine accepts commits.
func (m *machine) owns() bool { return m.role.Owns() }

// mayApply reports whether the machine applies records as the log brings them. It does not while an append is in
// flight, because the next record may be that very append, and not while something may still answer from the store.
func (m *machine) mayApply() bool {
	switch m.role {
	case Follower, Scouting, Taking, CatchingUp:
		return true
	}
	return false
}

// tick does what is due at now, and returns when it must be called again if no other event comes first.
func (m *machine) tick(now time.Time) time.Time {
	m.now = now
	if m.role == Stopped {
		return now.Add(time.Hour)
	}
	m.tickLease()
	m.tickFlight()
	m.tickRole()
	if m.mayApply() {
		m.reads.followIfDue(m.at() + 1)
	}
	if m.maySeek() {
		m.candidacy.checkIfDue()
	}
	if m.role != Fetching {
		m.reads.probeIfDue(m.at() + 1)
	}
	return m.nextTick()
}

// tickRole repeats what the role waits for, if it has failed.
func (m *machine) tickRole() {
	if m.retry.IsZero() || !m.isDue(m.retry) {
		return
	}
	m.retry = time.Time{}
	switch m.role {
	case CatchingUp:
		m.startRead()
	case Fetching:
		m.asking = m.newTicket()
		m.effects.fetch(m.asking)
	}
}

// nextTick returns when the next work is due.
func (m *machine) nextTick() time.Time {
	probe := m.now.Add(m.probeEvery)
	if m.role != Fetching && m.reads.mayProbe() {
		probe = m.reads.probe
	}
	next := soonest(probe, m.tenure.runsOut(), m.tenure.next(), m.appends.next(), m.retry)
	if m.mayApply() {
		next = soonest(next, m.reads.nextFollow())
	}
	if m.maySeek() {
		next = soonest(next, m.candidacy.next())
	}
	return next
}

// halt stops the replica permanently: if it continued, its store would differ from those of other nodes.
func (m *machine) halt(err error) {
	m.lose(err)
	m.giveUpCommits(err)
	m.reads.unfollow()
	m.service.stop()
	m.role, m.err = Stopped, err
	m.reads.awaited, m.asking = 0, 0
	m.effects.report("replica has stopped", err)
}
