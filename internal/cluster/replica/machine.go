package replica

import (
	"errors"
	"fmt"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/store"
)

// Role is what a replica is doing.
type Role string

// A replica is a follower until it may and can be more. The way up is: scouting,
// taking, catching up, claiming, opening, owner.
const (
	Follower   Role = "follower"
	Scouting   Role = "scouting"    // nobody has the lease: reads the log to its end
	Taking     Role = "taking"      // the lease
	CatchingUp Role = "catching up" // with the lease
	Claiming   Role = "claiming"    // appends the record that makes it the owner
	Opening    Role = "opening"     // is the owner, and builds what answers requests
	Owner      Role = "owner"
	Draining   Role = "draining" // is the owner and about to hand over
	Leaving    Role = "leaving"  // is no longer the owner; something may still be answering
	Fetching   Role = "fetching" // a checkpoint, because it is too far behind
	Stopped    Role = "stopped"  // because it must not go on
)

// Owns reports whether a replica that is doing this serves its shard, or will in a
// moment or has until a moment ago.
func (r Role) Owns() bool { return r == Opening || r == Owner || r == Draining }

// machine is the protocol of one replica: what it does about what happens, and
// nothing of how. It never waits and knows no goroutines; each of its methods is
// an event, and what it wants done it tells the world, which answers with another
// event. So the very same code that runs in a node runs in the simulation.
//
// The rules are those of the design:
//
//   - one append is in flight at a time, and each expects the log to end where the
//     store stands;
//   - what was acknowledged is applied, and then answered;
//   - after an unknown outcome the same record is appended again until there is an
//     answer, and if that is a refusal the log says whose record is there;
//   - whoever finds another's record there is no longer the owner.
//
// An owner that cannot renew its lease goes on being one: only the log can depose
// it. But it proves it with a record in the log before it answers from memory.
type machine struct {
	timing
	name  string // of the shard
	node  string // ours
	world world
	state state
	nonce func() uint64
	// owner makes what the owner of an epoch is given to commit with.
	owner func(epoch uint64) *Ownership
	// applied is told of each record once the store has it, before anybody else is.
	applied func(r *record, m store.Mark)

	now  time.Time
	role Role
	err  error // why it stopped

	candidate bool
	delay     time.Duration // before it takes a free lease
	holdOff   time.Time     // it does not try before
	free      time.Time     // since when the lease is seen to be free; zero: it is not
	looking   bool
	nextLook  time.Time

	ticket uint64 // the last one given out

	following uint64 // ticket of the following, 0: none
	follow    time.Time
	reading   uint64 // ticket of the read that the role waits for
	probing   uint64 // ticket of another one
	probe     time.Time
	readFrom  map[uint64]sharedlog.Position
	retry     time.Time // when what has failed is tried again; zero: nothing has
	extent    sharedlog.Extent

	failed    int    // how often in a row no checkpoint could be had
	asking    uint64 // ticket of the take, before, open, or fetch that the role waits for
	lease     sharedlog.Lease
	until     time.Time // the lease lasts at least so long
	renewing  uint64
	retaking  uint64 // ticket of a take by an owner who has lost the lease
	renewSent time.Time
	renew     time.Time
	releasing map[uint64]bool

	ownership *Ownership
	running   bool // something may be answering
	stopping  bool // and was told to stop
	flight    *flight
	resolving bool // whether the flight was stored is being read
	queue     []*commit
	handOver  []func(error)
	samples   []Sample
}

// timing is how long things take.
type timing struct {
	ttl        time.Duration // of the lease
	margin     time.Duration // an owner stops so long before its lease ends
	lookEvery  time.Duration // from one look at the lease to the next
	probeEvery time.Duration // from one look at the log's extent to the next
	again      time.Duration // before something that has failed is tried again
	giveUp     time.Duration // for how long the outcome of an append may stay unknown
}

// longestPause is the longest between two attempts to get a checkpoint.
const longestPause = 10 * time.Second

// state is the store, as the machine knows it.
type state interface {
	Mark() store.Mark
	Apply(changes []byte, m store.Mark) error
}

// commit is a transaction that is to be made durable.
type commit struct {
	changes []byte
	apply   func(m store.Mark) error
	done    func(error) // called once
	since   time.Time   // set by submit
}

// flight is an append whose outcome is not known.
type flight struct {
	ticket uint64
	after  sharedlog.Position
	record record
	data   []byte
	commit *commit   // nil for a claim
	since  time.Time // when it was asked for
	retry  time.Time // when it is appended again; zero: it is under way
}

// world does what the machine wants. Each call is answered with the event of the
// same name and its ticket, later and not during the call: what has no answer says so.
type world interface {
	// follow answers with followed for each record, and with followEnded.
	follow(ticket uint64, from sharedlog.Position)
	unfollow() // no answer, and followEnded may still come
	read(ticket uint64, from sharedlog.Position)
	append(ticket uint64, after sharedlog.Position, data []byte)
	abandon() // an append: no answer, and appended may still come
	look()
	take(ticket uint64)
	renew(ticket uint64, l sharedlog.Lease, epoch uint64)
	release(ticket uint64, l sharedlog.Lease)
	// prepare waits for what an owner has to know before it begins.
	prepare(ticket uint64)
	open(ticket uint64, o *Ownership)
	stop()
	fetch(ticket uint64)
	// tell tells a person. No answer.
	tell(what string, err error)
}

func (m *machine) ticketed() uint64 {
	m.ticket++
	return m.ticket
}

func (m *machine) at() sharedlog.Position { return position(m.state.Mark()) }

// owns reports whether commits are taken.
func (m *machine) owns() bool { return m.role.Owns() }

// mayApply reports whether records of others are applied as they come. Not while
// an append is in flight, which may be the next record itself, and not while
// something may still be answering from the store as it is.
func (m *machine) mayApply() bool {
	switch m.role {
	case Follower, Scouting, Taking, CatchingUp:
		return true
	}
	return false
}

// tick does what has become due by now, and returns when it wants to be called again.
func (m *machine) tick(now time.Time) time.Time {
	m.now = now
	if m.role == Stopped {
		return now.Add(time.Hour)
	}
	switch {
	case m.lease != nil && !m.owns() && !now.Before(m.until.Add(-m.margin)):
		m.leaseLost(errors.New("its lease was not renewed in time"))
	case m.lease != nil && m.renewing == 0 && !now.Before(m.renew):
		m.renewing, m.renewSent = m.ticketed(), now
		m.world.renew(m.renewing, m.lease, m.epochHeld())
	case m.lease == nil && m.owns() && m.retaking == 0 && !now.Before(m.renew):
		m.retaking, m.renewSent = m.ticketed(), now
		m.world.take(m.retaking)
	}
	if f := m.flight; f != nil {
		switch {
		case now.Sub(f.since) >= m.giveUp:
			m.lose(fmt.Errorf("an append has been unresolved for %v", m.giveUp))
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
			m.asking = m.ticketed()
			m.world.fetch(m.asking)
		}
	}
	if m.following == 0 && m.mayApply() && !now.Before(m.follow) {
		m.following = m.ticketed()
		m.world.follow(m.following, m.at()+1)
	}
	if m.role == Follower && m.candidate && !m.looking && !now.Before(m.nextLook) && !now.Before(m.holdOff) {
		m.looking = true
		m.nextLook = now.Add(m.lookEvery)
		m.world.look()
	}
	if m.mayProbe() && !now.Before(m.probe) {
		m.probe = now.Add(m.probeEvery)
		m.probing = m.startReading()
	}
	return m.nextTick()
}

// mayProbe reports whether a read of the log's extent makes sense.
func (m *machine) mayProbe() bool { return m.probing == 0 && m.reading == 0 && m.role != Fetching }

// nextTick is when something becomes due unless something happens.
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
	if m.role == Follower && m.candidate && !m.looking {
		at := m.nextLook
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

// want says whether the replica should try to become the owner when nobody is, and
// how long it should leave that to others.
func (m *machine) want(candidate bool, delay time.Duration) {
	m.candidate, m.delay = candidate, delay
	m.nextLook = m.now
}

// nudge makes it look at the lease now, hold-off or not.
func (m *machine) nudge() {
	m.nextLook, m.holdOff = m.now, time.Time{}
}

// looked says whether somebody has the lease.
func (m *machine) looked(held bool, err error) {
	m.looking = false
	if err != nil || held || m.role != Follower || !m.candidate {
		m.free = time.Time{}
		return
	}
	if m.free.IsZero() {
		m.free = m.now
	}
	if wait := m.free.Add(m.delay); m.now.Before(wait) {
		if wait.Before(m.nextLook) {
			m.nextLook = wait
		}
		return
	}
	// Whoever has read the log to its end is there first; the others are still
	// reading.
	m.role = Scouting
	m.startRead()
}

// startReading reads what comes next.
func (m *machine) startReading() uint64 {
	t := m.ticketed()
	m.readFrom[t] = m.at() + 1
	m.world.read(t, m.at()+1)
	return t
}

func (m *machine) startRead() { m.reading = m.startReading() }

// read is what comes next in the log.
func (m *machine) read(ticket uint64, records []sharedlog.Record, extent sharedlog.Extent, err error) {
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
			m.halt(fmt.Errorf("%w: the store has applied %d records, the log ends at %d", ErrDiverged, from-1, extent.Last))
			return
		}
	}
	if m.mayApply() {
		for _, r := range records {
			if !m.foreign(r) {
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

// readOn goes on with what the read was for.
func (m *machine) readOn(records []sharedlog.Record, extent sharedlog.Extent, err error) {
	switch {
	case m.resolving:
		m.resolved(records, err)
	case m.role == Scouting && (err != nil || !m.candidate):
		m.role = Follower
	case m.role == Scouting && m.at() < extent.Last:
		m.startRead()
	case m.role == Scouting:
		m.asking = m.ticketed()
		m.world.prepare(m.asking)
	case m.role == CatchingUp && err != nil:
		m.retry = m.now.Add(m.again)
	case m.role == CatchingUp && m.at() < extent.Last:
		m.startRead()
	case m.role == CatchingUp:
		m.claim()
	}
}

// prepared says that what an owner has to know is known.
func (m *machine) prepared(ticket uint64, err error) {
	if ticket != m.asking {
		return
	}
	m.asking = 0
	switch {
	case m.role == Scouting && err != nil:
		m.role = Follower
	case m.role == Scouting:
		m.role = Taking
		m.asking, m.renewSent = m.ticketed(), m.now
		m.world.take(m.asking)
	case m.role == Opening && err != nil:
		m.lose(fmt.Errorf("it could not be prepared: %w", err))
	case m.role == Opening:
		m.running, m.stopping = true, false
		m.asking = m.ticketed()
		m.world.open(m.asking, m.ownership)
	}
}

// taken is the lease, or why it was not given.
func (m *machine) taken(ticket uint64, l sharedlog.Lease, err error) {
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
	m.renewing, m.renew = 0, m.renewSent.Add(m.ttl/3)
	m.role = CatchingUp
	m.startRead()
}

// retaken is the lease that an owner had lost, or why it is not to be had: whoever
// has it now will claim the shard, or let it run out.
func (m *machine) retaken(l sharedlog.Lease, err error) {
	m.retaking = 0
	if err != nil {
		m.renew = m.now.Add(m.again)
		return
	}
	m.lease, m.until = l, m.renewSent.Add(m.ttl)
	m.ownership.extend(m.renewSent, m.until.Add(-m.margin))
	m.renew = m.now // so that it says which epoch it is
}

// renewed says whether the lease lasts longer.
func (m *machine) renewed(ticket uint64, err error) {
	if ticket != m.renewing || m.lease == nil {
		return
	}
	m.renewing = 0
	switch {
	case err == nil:
		m.until = m.renewSent.Add(m.ttl)
		m.renew = m.renewSent.Add(m.ttl / 3)
		if m.ownership != nil {
			m.ownership.extend(m.renewSent, m.until.Add(-m.margin))
		}
	case errors.Is(err, sharedlog.ErrLost) && m.owns():
		// The log says who the owner is. It may only be the leases that were away.
		m.lease = nil
		m.renew = m.now
	case errors.Is(err, sharedlog.ErrLost):
		m.leaseLost(err)
	default:
		m.renew = m.now.Add(m.again)
	}
}

// epochHeld is the epoch to be seen in the lease: 0 before the claim.
func (m *machine) epochHeld() uint64 {
	if m.ownership == nil {
		return 0
	}
	return m.ownership.epoch
}

func (m *machine) leaseLost(err error) {
	m.lease = nil
	m.renewing = 0
	m.lose(err)
}

// giveBack releases a lease, which may have been lost already.
func (m *machine) giveBack(l sharedlog.Lease) {
	t := m.ticketed()
	m.releasing[t] = true
	m.world.release(t, l)
}

// released says that a lease was given back, or that it will have to run out.
func (m *machine) released(ticket uint64, _ error) {
	delete(m.releasing, ticket)
	m.handedOver()
}

// foreign applies a record that was not appended from here just now. It reports
// whether there is any sense in the next one.
func (m *machine) foreign(r sharedlog.Record) bool {
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
	m.advanced(&rec)
	return true
}

// advanced notes that the store has one more record.
func (m *machine) advanced(r *record) {
	mark := m.state.Mark()
	if at := position(mark); m.extent.Last < at {
		m.extent.Last = at
	}
	m.sample(mark)
	m.applied(r, mark)
}

// followed is a record that the log goes on with.
func (m *machine) followed(ticket uint64, r sharedlog.Record) {
	if ticket == m.following && m.mayApply() {
		m.foreign(r)
	}
}

// followEnded says that no more records will come.
func (m *machine) followEnded(ticket uint64, err error) {
	if ticket != m.following {
		return
	}
	m.following = 0
	m.follow = m.now.Add(m.again)
	if errors.Is(err, sharedlog.ErrTrimmed) && m.mayApply() {
		// A read says whether that is so, and of which position.
		m.probe = m.now
	}
}

func (m *machine) unfollow() {
	if m.following != 0 {
		m.following = 0
		m.world.unfollow()
	}
	m.follow = m.now
}

// claim appends the record that makes this node the owner.
func (m *machine) claim() {
	m.unfollow()
	m.role = Claiming
	mark := m.state.Mark()
	m.launch(record{kind: claim, epoch: mark.Epoch + 1, owner: m.node, nonce: m.nonce(), chain: mark.Hash}, nil)
}

// submit takes a transaction that is to be made durable by the owner of an epoch.
func (m *machine) submit(o *Ownership, c *commit) {
	if !m.owns() || m.ownership != o {
		c.done(fmt.Errorf("%w: shard %s is not owned here", ErrDeposed, m.name))
		return
	}
	c.since = m.now
	m.queue = append(m.queue, c)
	m.launchNext()
}

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

func (m *machine) launch(r record, c *commit) {
	f := &flight{after: m.at(), record: r, commit: c, since: m.now}
	f.data = f.record.encode()
	f.record.changes = f.data[len(f.data)-len(r.changes):] // the transaction's own may go
	if c != nil {
		f.since = c.since
	}
	m.flight, m.resolving = f, false
	m.append()
}

func (m *machine) append() {
	f := m.flight
	f.ticket = m.ticketed()
	m.world.append(f.ticket, f.after, f.data)
}

// appended is the outcome of an append.
func (m *machine) appended(ticket uint64, err error) {
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

// resolved tells from what is in the log, where an append was refused, whether an
// earlier attempt has put it there.
func (m *machine) resolved(records []sharedlog.Record, err error) {
	f := m.flight
	switch {
	case errors.Is(err, sharedlog.ErrTrimmed):
		m.refused()
	case err != nil:
		f.retry = m.now.Add(m.again)
	case len(records) == 0:
		// The log said that it ends elsewhere, and it ends here: an earlier attempt
		// is about to become part of it, or to fail.
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

// stored makes the record in flight part of the store, and answers.
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
		// It is in the log. What the store makes of it, whoever reads the log next
		// will see.
		err = fmt.Errorf("record %d is in the log and could not be applied: %w", next.Position, err)
		if f.commit != nil {
			f.commit.done(fmt.Errorf("%w: %w", ErrDeposed, err))
		}
		m.halt(err)
		return
	}
	m.advanced(&f.record)
	if f.commit == nil {
		m.role = Opening
		m.ownership = m.owner(next.Epoch)
		m.ownership.extend(m.renewSent, m.until.Add(-m.margin))
		m.asking = m.ticketed()
		m.world.prepare(m.asking)
		m.renew = m.now // so that the lease says which epoch it is
		return
	}
	f.commit.done(nil)
	m.launchNext()
}

// refused gives up the record in flight, in whose place there is another's.
func (m *machine) refused() {
	if m.role == Claiming {
		m.flight, m.resolving = nil, false
		m.role = CatchingUp
		m.startRead()
		return
	}
	m.lose(errors.New("another node has appended to its log"))
}

// opened says that what answers requests does so now, or could not be built.
func (m *machine) opened(ticket uint64, err error) {
	if ticket != m.asking || m.role != Opening {
		return
	}
	m.asking = 0
	if err != nil {
		m.running = false
		m.lose(fmt.Errorf("it could not be opened: %w", err))
		m.holdOff = m.now.Add(m.ttl) // somebody else may be able to
		return
	}
	m.role = Owner
}

// lose ends whatever the replica is beyond a follower, at once. Nobody is told of
// success any more; whether what was in flight is stored, the log will say.
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
		m.halting()
	}
	if owned && !errors.Is(err, errHandedOver) {
		m.world.tell("shard is no longer owned here", err)
	}
	m.handedOver()
}

// giveUpCommits ends the ownership and answers those who wait for a commit.
func (m *machine) giveUpCommits(reason error) {
	err := fmt.Errorf("%w: %w", ErrDeposed, reason)
	if m.ownership != nil {
		m.ownership.end(err)
		m.ownership = nil
	}
	if f := m.flight; f != nil {
		m.flight, m.resolving = nil, false
		m.world.abandon()
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

var errHandedOver = errors.New("it was handed over")

// halting tells what is running to stop.
func (m *machine) halting() {
	if m.running && !m.stopping {
		m.stopping = true
		m.world.stop()
	}
}

// stopped says that nothing answers any more.
func (m *machine) stopped() {
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

// give hands over to another node: it stops accepting, finishes what it has
// accepted, and gives back the lease. It is done at once if there is nothing to
// hand over.
func (m *machine) give(done func(error)) {
	m.holdOff = m.now.Add(2 * m.ttl)
	m.handOver = append(m.handOver, done)
	switch m.role {
	case Owner:
		m.role = Draining
		m.halting()
	case Draining, Leaving:
	default:
		m.lose(errors.New("it is to be another node's"))
	}
	m.handedOver()
}

// handedOver answers those who wait for a hand-over, once nothing answers any more
// and all leases are given back.
func (m *machine) handedOver() {
	if m.running || len(m.releasing) > 0 {
		return
	}
	waiting := m.handOver
	m.handOver = nil
	for _, done := range waiting {
		done(nil)
	}
}

// fetch leaves the log, which has gone on too far, for a checkpoint of a store that
// has followed it.
func (m *machine) fetch(reason error) {
	m.lose(reason)
	m.unfollow()
	m.role = Fetching
	m.world.tell("replica is too far behind its log and needs a checkpoint", reason)
	m.asking = m.ticketed()
	m.world.fetch(m.asking)
}

// fetched says that the store is another one now, or why it is not.
func (m *machine) fetched(ticket uint64, err error) {
	if ticket != m.asking || m.role != Fetching {
		return
	}
	m.asking = 0
	switch {
	case errors.Is(err, errNoFetch) || errors.Is(err, errReplace):
		m.halt(err)
		return
	case err != nil:
		m.world.tell("no checkpoint could be had", err)
		m.retry = m.now.Add(min(5*m.again<<min(m.failed, 10), longestPause))
		m.failed++
		return
	}
	m.failed = 0
	m.samples = nil
	m.role = Follower
	m.follow, m.probe = m.now, m.now
}

// halt stops the replica for good: to go on would make it different from others.
func (m *machine) halt(err error) {
	m.lose(err)
	m.giveUpCommits(err)
	m.unfollow()
	m.halting()
	m.role, m.err = Stopped, err
	m.reading, m.asking = 0, 0
	m.world.tell("replica has stopped", err)
}
