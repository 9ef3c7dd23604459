package replica

import (
	"errors"
	"fmt"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/store"
)

// machine is the protocol of one replica without goroutines, clocks, disks or networks. Each event is a method: on… for
// the answer of an effect, and tick, want, nudge, submit and handOver for calls from outside. The machine decides, and
// effects execute its decisions. A node and the simulation run the same code.
//
// The rules:
//
//   - One append is in flight at a time. It expects the log to end at the store's position.
//   - A commit is answered after the log has acknowledged its record and the store has applied it.
//   - After an append with an unknown outcome, the machine appends the same record again until the log answers. If the
//     log refuses, the machine reads the record at that position: its own nonce means that an earlier attempt was
//     stored.
//   - A node that finds another node's record in that place is no longer the owner.
//
// An owner that cannot renew its lease stays the owner, because only the log can depose it. Without a lease, it proves
// its ownership with a record in the log before it answers from memory; see Ownership.Confirm. After it has regained
// the lease, it does so once more, because another node may have owned the shard meanwhile.
type machine struct {
	timing
	name    string // of the shard
	node    string // this one
	effects effects
	state   state
	nonce   func() uint64
	// owner makes the Ownership of an epoch.
	owner func(epoch uint64) *Ownership
	// applied is called for each record after the store has applied it, before any caller is answered. An error halts
	// the machine.
	applied func(r *record, m store.Mark) error

	now  time.Time // of the event
	role Role
	err  error // the reason for the role Stopped

	// A ticket is the number of an effect in progress. The machine ignores answers whose ticket is no longer in any
	// field: they are late.
	ticket uint64 // the last ticket issued
	asking uint64 // of the effect that the role waits for; 0: none

	// Following the log (follow.go).
	following uint64    // ticket of the current follow, or 0
	follow    time.Time // when the next follow may begin
	reading   uint64    // ticket of the read that the role waits for, or 0
	probing   uint64    // ticket of a read that only checks the extent of the log, or 0
	probe     time.Time // when the next one is due
	readFrom  map[uint64]sharedlog.Position
	retry     time.Time // time of the next attempt of a failed read or fetch; zero: none
	extent    sharedlog.Extent
	failed    int // consecutive failed fetches
	samples   []Sample

	// The lease (lease.go).
	candidate bool          // may become the owner
	delay     time.Duration // how long a lease must have been free before this node takes it
	holdOff   time.Time     // the node does not try before this time
	free      time.Time     // when the lease was first seen to be free; zero if it is held
	checking  bool          // a check of the lease is in progress
	nextCheck time.Time
	lease     sharedlog.Lease // nil if this node does not hold it
	until     time.Time       // the lease lasts at least until then
	proven    bool            // a record of this owner was appended to the log while it held this lease
	renewing  uint64          // ticket of the current renewal, or 0
	retaking  uint64          // ticket of the take with which an owner tries to regain a lost lease, or 0
	renewSent time.Time       // when the last take or renewal was sent
	renew     time.Time       // when the next one is due
	releasing map[uint64]bool // tickets of the current releases

	// Appending (append.go).
	flight    *flight // the append with an unknown outcome, or nil
	resolving bool    // the machine is reading whether the flight was stored
	queue     []*commit

	// Owning (takeover.go).
	ownership *Ownership // nil if this node is not the owner
	running   bool       // something may be answering requests
	stopping  bool       // and must stop
	handOvers []func(error)
}

// timing holds the times of the protocol. The comment of the node's timing.go shows how they relate.
type timing struct {
	ttl        time.Duration // of the lease
	margin     time.Duration // how long before the end of its lease an owner stops answering from memory
	lookEvery  time.Duration // interval of checks of the lease
	probeEvery time.Duration // interval of checks of the log's extent
	again      time.Duration // from a failure to the next attempt
	giveUp     time.Duration // how long the outcome of an append may stay unknown
}

// aligned returns the next time that is a multiple of an interval by the wall clock. So the replicas of a process wake
// up together, and renew their leases with one message.
func aligned(now time.Time, every time.Duration) time.Time {
	rest := time.Duration(now.UnixNano() % int64(every))
	if rest < 0 {
		rest += every
	}
	return now.Add(every - rest)
}

// state is the part of the store that the machine uses.
type state interface {
	Mark() store.Mark
	Apply(changes []byte, m store.Mark) error
}

// newTicket returns a number that no effect has had.
func (m *machine) newTicket() uint64 {
	m.ticket++
	return m.ticket
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
	switch {
	case m.lease != nil && !m.owns() && !now.Before(m.until.Add(-m.margin)):
		m.leaseLost(errors.New("its lease was not renewed in time"))
	case m.lease != nil && m.renewing == 0 && !now.Before(m.renew):
		m.renewing, m.renewSent = m.newTicket(), now
		m.effects.renew(m.renewing, m.lease, m.epochHeld())
	case m.lease == nil && m.owns() && m.retaking == 0 && !now.Before(m.renew):
		m.retaking, m.renewSent = m.newTicket(), now
		m.effects.take(m.retaking)
	}
	if f := m.flight; f != nil {
		switch {
		case now.Sub(f.since) >= m.giveUp:
			m.lose(fmt.Errorf("an append has been unresolved for %v", m.giveUp))
			// Another node may be able to append. It needs longer for its turn than lose holds this one off: about a
			// tenth of the lease for each candidate before it.
			m.holdOff = m.now.Add(m.ttl)
		case !f.retry.IsZero() && !now.Before(f.retry):
			f.retry = time.Time{}
			if m.resolving {
				m.startRead()
			} else {
				m.append()
			}
		}
	}
	if !m.retry.IsZero() && !now.Before(m.retry) {
		m.retry = time.Time{}
		switch m.role {
		case CatchingUp:
			m.startRead()
		case Fetching:
			m.asking = m.newTicket()
			m.effects.fetch(m.asking)
		}
	}
	if m.following == 0 && m.mayApply() && !now.Before(m.follow) {
		m.following = m.newTicket()
		m.effects.follow(m.following, m.at()+1)
	}
	if m.maySeek() && !m.checking && !now.Before(m.nextCheck) && !now.Before(m.holdOff) {
		m.checking = true
		m.nextCheck = aligned(now, m.lookEvery)
		m.effects.checkLease()
	}
	if m.mayProbe() && !now.Before(m.probe) {
		m.probe = now.Add(m.probeEvery)
		m.probing = m.newTicket()
		m.readFrom[m.probing] = m.at() + 1
		m.effects.probe(m.probing, m.at()+1)
	}
	return m.nextTick()
}

// mayProbe reports whether a read of the log's extent may begin: no other read is under way.
func (m *machine) mayProbe() bool { return m.probing == 0 && m.reading == 0 && m.role != Fetching }

// maySeek reports whether the machine may try to become the owner. Not while it hands over: it waits for the release of
// its lease, and the caller for both.
func (m *machine) maySeek() bool {
	return m.role == Follower && m.candidate && len(m.handOvers) == 0
}

// nextTick returns when the next work is due.
func (m *machine) nextTick() time.Time {
	next := m.probe
	if !m.mayProbe() {
		next = m.now.Add(m.probeEvery)
	}
	earlier := func(t time.Time, waits bool) {
		if waits && t.Before(next) {
			next = t
		}
	}
	earlier(m.until.Add(-m.margin), m.lease != nil && !m.owns())
	earlier(m.renew, m.lease != nil && m.renewing == 0 || m.lease == nil && m.owns() && m.retaking == 0)
	earlier(m.retry, !m.retry.IsZero())
	earlier(m.follow, m.following == 0 && m.mayApply())
	if m.maySeek() && !m.checking {
		at := m.nextCheck
		if m.holdOff.After(at) {
			at = m.holdOff
		}
		earlier(at, true)
	}
	if f := m.flight; f != nil {
		earlier(f.since.Add(m.giveUp), true)
		earlier(f.retry, !f.retry.IsZero())
	}
	return next
}

// want sets whether the replica may become the owner, and how long it leaves a free lease to other nodes.
func (m *machine) want(candidate bool, delay time.Duration) {
	m.candidate, m.delay = candidate, delay
	m.nextCheck = m.now
}

// nudge makes a candidate take the lease now, without its delay: the owner has just released it. It skips the preceding
// steps, which choose among several candidates and avoid delays for others. If the lease is still held, the candidate
// continues to check it.
func (m *machine) nudge() {
	m.nextCheck, m.holdOff = m.now, time.Time{}
	if m.maySeek() {
		m.take()
	}
}

// halt stops the replica permanently: if it continued, its store would differ from those of other nodes.
func (m *machine) halt(err error) {
	m.lose(err)
	m.giveUpCommits(err)
	m.unfollow()
	m.stopRunning()
	m.role, m.err = Stopped, err
	m.reading, m.asking = 0, 0
	m.effects.report("replica has stopped", err)
}
