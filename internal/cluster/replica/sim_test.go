package replica

import (
	"container/heap"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/store"
)

var (
	seeds = flag.Int("seeds", 100, "how many simulations to run")
	seed  = flag.Int64("seed", -1, "run this simulation only, and say what happens")
)

// The simulation runs the machines of all replicas of a few shards in one goroutine, with a simulated clock, network,
// log, leases and disks. Each may fail in the ways that the protocol allows. Runs with the same seed are identical.

const (
	simNodes  = 3
	simShards = 2
	// simControl is the shard of which every node keeps a copy in memory. The other shards depend on that copy.
	simControl = 0
	simTTL     = 5 * time.Second
	simGiveUp  = 10 * time.Second
	simLength  = 4 * time.Minute // of trouble
	// simBound is the maximum time until service resumes in a healthy cluster: before another node can try, a lease
	// that no node renews has to expire, and the owner has to give up an append with an unknown outcome.
	simBound = simTTL + simGiveUp + 10*time.Second
)

// simEventsMost is more events than a simulation has, unless a machine asks again and again for a wake-up.
const simEventsMost = 1_000_000

var simStart = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

type sim struct {
	t      *testing.T
	seed   int64
	rng    *rand.Rand
	now    time.Duration
	events simEvents
	number uint64
	calm   bool // no more trouble
	// wild gives leases away while they are held, as if clocks ran wrong: two owners may believe that they hold the
	// lease. Their answers from memory may be old, but nothing else may be wrong.
	wild bool
	// early makes a node claim to know a checkpoint of the control shard before it has loaded it into memory. The
	// simulation must find the consequences.
	early bool

	logs   []*simLog
	leases simLeases
	nodes  []*simNode

	nextID   uint64
	stored   map[uint64]bool // operations that are in a log
	acked    []uint64        // by shard: how many numbers are known to be issued
	answered int
	reads    int
	claims   int
	fetches  int
	loads    int // checkpoints of the control shard that a node needed to open another of its shards
	failure  string
	trace    []string
}

// simNode is a process on a machine.
type simNode struct {
	s      *sim
	name   string
	up     bool
	life   int           // how often it has been started
	paused time.Duration // until then it does nothing
	cut    bool          // from log and leases and other nodes
	mute   bool          // from the leases only
	offset time.Duration // its clock's
	rate   float64
	shards []*simReplica
}

// simReplica is a replica with the state that its owner serves.
type simReplica struct {
	n     *simNode
	shard int
	log   *simLog
	m     *machine
	store *simStore
	disk  *simStore // the durable part of the store
	image *simStore // an old image of the disk
	wake  uint64    // number of the next tick

	serving  *Ownership
	next     uint64        // the next number to issue
	waiting  []op          // callers that wait for the end of the commit under way
	inFlight bool          // a commit
	opening  bool          // the host has not answered yet
	stuck    time.Duration // until then the machine waits for the disk
	pending  uint64        // ticket of the append that has not been answered
	follower uint64        // ticket of the following
	at       sharedlog.Position
	applied  sharedlog.Position

	// The host's knowledge of the shard; see simhost_test.go.
	known   uint64             // operations in its memory
	reached sharedlog.Position // as reported to callers
}

func (s *sim) chance(one int) bool                { return !s.calm && s.rng.IntN(one) == 0 }
func (s *sim) upTo(d time.Duration) time.Duration { return time.Duration(s.rng.Int64N(int64(d))) }

// latency returns the delay of a message: short, and sometimes long.
func (s *sim) latency() time.Duration {
	switch {
	case s.chance(50):
		return s.upTo(4 * time.Second)
	case s.chance(1000):
		return s.upTo(20 * time.Second)
	}
	return 100*time.Microsecond + s.upTo(5*time.Millisecond)
}

func (s *sim) fail(format string, args ...any) {
	if s.failure == "" {
		s.failure = fmt.Sprintf("after %v: ", s.now) + fmt.Sprintf(format, args...)
	}
}

func (s *sim) note(format string, args ...any) {
	if *seed >= 0 {
		s.trace = append(s.trace, fmt.Sprintf("%12v ", s.now)+fmt.Sprintf(format, args...))
	}
}

// after calls f when this time has passed.
func (s *sim) after(d time.Duration, f func()) {
	s.number++
	heap.Push(&s.events, simEvent{s.now + d, s.number, f})
}

func (s *sim) run(until time.Duration) {
	for len(s.events) > 0 && s.events[0].at <= until && s.failure == "" {
		e := heap.Pop(&s.events).(simEvent)
		if s.now = e.at; s.number > simEventsMost {
			s.fail("a machine is going in circles")
		}
		e.f()
	}
	if s.failure == "" {
		s.now = until
	}
}

type simEvent struct {
	at     time.Duration
	number uint64
	f      func()
}

type simEvents []simEvent

func (h simEvents) Len() int { return len(h) }
func (h simEvents) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].number < h[j].number
}
func (h simEvents) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *simEvents) Push(x any)   { *h = append(*h, x.(simEvent)) }
func (h *simEvents) Pop() any {
	old := *h
	e := old[len(old)-1]
	*h = old[:len(old)-1]
	return e
}

func newSim(t *testing.T, seed int64) *sim {
	s := &sim{
		t: t, seed: seed, rng: rand.New(rand.NewPCG(uint64(seed), 1)), stored: make(map[uint64]bool), wild: seed%3 == 0,
	}
	s.leases = simLeases{s, make(map[string]*simLease)}
	s.acked = make([]uint64, simShards)
	for range simShards {
		l := &simLog{s: s, first: 1, counts: []uint64{0}}
		l.marks = append(l.marks, (&simStore{}).mark)
		s.logs = append(s.logs, l)
	}
	for i := range simNodes {
		n := &simNode{s: s, name: string(rune('a' + i))}
		for shard := range simShards {
			n.shards = append(n.shards, &simReplica{
				n: n, shard: shard, log: s.logs[shard], disk: &simStore{}, image: &simStore{},
			})
		}
		s.nodes = append(s.nodes, n)
		n.start()
	}
	s.after(s.upTo(time.Second), s.client)
	s.after(s.upTo(time.Second), s.trouble)
	return s
}

// start starts the process from the state of its disk.
func (n *simNode) start() {
	s := n.s
	n.up, n.paused = true, 0
	n.life++
	n.offset = time.Duration(s.rng.Int64N(int64(20*time.Minute))) - 10*time.Minute
	n.rate = []float64{0.92, 0.92 + 0.16*s.rng.Float64(), 1.08}[s.rng.IntN(3)]
	s.note("%s starts, clock %v fast, rate %.3f", n.name, n.offset, n.rate)
	for _, r := range n.shards {
		r.start()
	}
}

func (n *simNode) crash() {
	n.s.note("%s crashes", n.name)
	n.up = false
	for _, r := range n.shards {
		r.serving = nil
	}
}

// clock returns the node's time.
func (n *simNode) clock() time.Time {
	return simStart.Add(n.offset + time.Duration(float64(n.s.now)*n.rate))
}

func (r *simReplica) start() {
	s := r.n.s
	r.store = r.disk.clone()
	r.serving, r.waiting, r.inFlight, r.opening, r.pending, r.follower = nil, nil, false, false, 0, 0
	r.stuck = 0
	r.applied = position(r.store.mark)
	r.loaded()
	r.m = newMachine(identity{
		name: fmt.Sprint(r.shard), node: r.n.name, state: r.store, nonce: s.rng.Uint64,
		owner: func(epoch uint64) *Ownership { return newOwnership(epoch, nil) },
		applied: func(_ *record, m store.Mark) error {
			at := position(m)
			if at <= r.applied {
				s.fail("position %d is reported after %d", at, r.applied)
			}
			r.applied = at
			r.loaded()
			return nil
		},
	}, timing{
		ttl: simTTL, margin: simTTL / 5, lookEvery: simTTL / 9, probeEvery: probeInterval, again: again,
		giveUp: simGiveUp,
	}, simEffects{r, r.n.life})
	delay := time.Duration(0)
	if r.shard%simNodes != int(r.n.name[0]-'a') {
		delay = 500 * time.Millisecond
	}
	r.event(r.n.life, func() { r.m.candidacy.want(true, delay) })
	r.flushSometimes(r.n.life)
}

func (r *simReplica) flushSometimes(life int) {
	s := r.n.s
	s.after(s.upTo(20*time.Second), func() {
		if r.n.up && r.n.life == life {
			if r.n.paused <= s.now {
				r.disk = r.store.clone()
			}
			r.flushSometimes(life)
		}
	})
}

// event hands an event to the machine, unless the process has died; if it is paused, later.
func (r *simReplica) event(life int, f func()) {
	s, n := r.n.s, r.n
	if !n.up || n.life != life {
		return
	}
	if wait := max(n.paused, r.stuck) - s.now; wait > 0 {
		s.after(wait+s.upTo(time.Millisecond), func() { r.event(life, f) })
		return
	}
	before := r.m.role
	r.m.tick(n.clock())
	f()
	next := r.m.tick(n.clock())
	if r.m.role != before {
		s.note("%s/%d %s -> %s at %d, epoch %d", n.name, r.shard, before, r.m.role, r.store.mark.Position,
			r.store.mark.Epoch)
		if r.m.role == Opening {
			s.claims++
		}
	}
	r.check()
	s.number++
	r.wake = s.number
	wake := r.wake
	s.after(time.Duration(float64(max(0, next.Sub(n.clock())))/n.rate)+time.Microsecond, func() {
		if r.wake == wake {
			r.event(life, func() {})
		}
	})
}

// check verifies the rules that hold after every step.
func (r *simReplica) check() {
	s, m := r.n.s, r.store.mark
	if r.m.role == Stopped {
		s.fail("%s/%d has stopped: %v", r.n.name, r.shard, r.m.err)
		return
	}
	if m.Position >= uint64(len(r.log.marks)) {
		s.fail("I2: %s/%d has applied %d, which is not in the log", r.n.name, r.shard, m.Position)
		return
	}
	if want := r.log.marks[m.Position]; m != want || uint64(len(r.store.ops)) != r.log.counts[m.Position] {
		s.fail("I1: %s/%d is at %+v with %d operations, the log at %+v with %d",
			r.n.name, r.shard, m, len(r.store.ops), want, r.log.counts[m.Position])
	}
}

// simEffects carries out the effects of a machine in one life of its process.
type simEffects struct {
	*simReplica
	life int
}

// call sends a request to the engine, and f answers it. If the answer is lost, the caller learns of it after a while.
// late handles a request that was cut off: it may still arrive, much later.
func (w simEffects) call(cut func() bool, request func() error, answer func(error), patience time.Duration) {
	s, n := w.n.s, w.n
	done := false
	reply := func(err error) {
		w.event(w.life, func() {
			if !done {
				done = true
				answer(err)
			}
		})
	}
	s.after(patience, func() { reply(errNoAnswer) })
	if cut() {
		if s.chance(3) {
			s.after(s.upTo(30*time.Second), func() { _ = request() }) // it was in a buffer
		} else if s.chance(2) {
			s.after(s.latency(), func() { reply(errCut) })
		}
		return
	}
	s.after(s.latency(), func() {
		if cut() && n.up {
			return // lost on the way
		}
		err := request()
		switch {
		case errors.Is(err, errNoAnswer) || s.chance(60):
			return // the answer is lost
		case cut() || s.chance(40): // or comes at last
			s.after(s.upTo(patience), func() { reply(err) })
		default:
			s.after(s.latency(), func() { reply(err) })
		}
	})
}

func (w simEffects) fromLog() bool    { return w.n.cut }
func (w simEffects) fromLeases() bool { return w.n.cut || w.n.mute }

func (w simEffects) follow(ticket uint64, from sharedlog.Position) {
	w.follower, w.at = ticket, from
	w.pump(ticket)
}

// pump continues a follow.
func (w simEffects) pump(ticket uint64) {
	s := w.n.s
	s.after(s.latency(), func() {
		if w.follower != ticket || !w.n.up || w.n.life != w.life {
			return
		}
		if w.n.cut || s.now < w.log.down {
			s.after(s.upTo(time.Second), func() { w.pump(ticket) })
			return
		}
		records, _, err := w.log.read(w.at, 1+s.rng.IntN(10))
		if s.chance(200) {
			err = errCut
		}
		if err != nil {
			w.event(w.life, func() { w.m.onFollowEnded(ticket, err) })
			return
		}
		w.at += sharedlog.Position(len(records))
		for _, rec := range records {
			w.event(w.life, func() { w.m.onFollowed(ticket, rec) })
		}
		if len(records) == 0 {
			s.after(s.upTo(50*time.Millisecond), func() { w.pump(ticket) })
		} else {
			w.pump(ticket)
		}
	})
}

func (w simEffects) unfollow() { w.follower = 0 }

func (w simEffects) probe(ticket uint64, from sharedlog.Position) { w.read(ticket, from) }

func (w simEffects) read(ticket uint64, from sharedlog.Position) {
	s := w.n.s
	var records []sharedlog.Record
	var extent sharedlog.Extent
	w.call(w.fromLog, func() (err error) {
		if s.now < w.log.down {
			return errNoAnswer
		}
		records, extent, err = w.log.read(from, 1+s.rng.IntN(50))
		return err
	}, func(err error) { w.m.onRead(ticket, records, extent, err) }, readTimeout)
}

func (w simEffects) append(ticket uint64, after sharedlog.Position, data []byte) {
	if w.pending != 0 {
		w.n.s.fail("%s/%d has two appends in flight", w.n.name, w.shard)
	}
	w.pending = ticket
	w.call(w.fromLog, func() error { return w.log.append(after, data) }, func(err error) {
		if w.pending == ticket {
			w.pending = 0
		}
		w.m.onAppended(ticket, err)
	}, 3*time.Second)
}

func (w simEffects) abandon() { w.pending = 0 }

func (w simEffects) lease() string { return LeaseName(fmt.Sprint(w.shard)) }

func (w simEffects) checkLease() {
	held := false
	w.call(w.fromLeases, func() error {
		h := w.n.s.leases.held[w.lease()]
		held = h != nil && w.n.s.now < h.until && (!w.n.s.wild || !w.n.s.chance(10))
		return nil
	}, func(err error) { w.m.onLeaseChecked(held, err) }, simTTL/3)
}

func (w simEffects) take(ticket uint64) {
	var l *simLease
	w.call(w.fromLeases, func() (err error) {
		l, err = w.n.s.leases.take(w.lease())
		return err
	}, func(err error) { w.m.onTaken(ticket, l, err) }, simTTL/3)
}

func (w simEffects) renew(ticket uint64, l sharedlog.Lease, _ uint64) {
	w.call(w.fromLeases, func() error { return w.n.s.leases.renew(l.(*simLease)) },
		func(err error) { w.m.onRenewed(ticket, err) }, simTTL/3)
}

func (w simEffects) release(ticket uint64, l sharedlog.Lease) {
	w.call(w.fromLeases, func() error {
		w.n.s.leases.release(l.(*simLease))
		return nil
	}, func(err error) { w.m.onReleased(ticket, err) }, simTTL/3)
}

func (w simEffects) prepare(ticket uint64) {
	w.catchUp(func(err error) { w.m.onPrepared(ticket, err) })
}

func (w simEffects) claimed(ticket uint64) {
	w.catchUp(func(err error) { w.m.onReady(ticket, err) })
}

// await answers after a while, sometimes with an error.
func (w simEffects) await(answer func(error)) {
	s := w.n.s
	s.after(s.latency(), func() {
		var err error
		if s.chance(20) {
			err = errCut
		}
		w.event(w.life, func() { answer(err) })
	})
}

// open builds the owner's memory from the store, and serves from it.
func (w simEffects) open(ticket uint64, o *Ownership) {
	s, r := w.n.s, w.simReplica
	r.opening = true
	s.after(s.latency(), func() {
		w.event(w.life, func() {
			r.knowsEnough()
			r.serving, r.waiting, r.inFlight, r.opening = o, nil, false, false
			r.next = uint64(len(r.store.ops))
			var err error
			if s.chance(20) {
				r.serving = nil
				err = errCut
			}
			r.m.onOpened(ticket, err)
			if err != nil && r.m.service.running && !r.m.service.stopping {
				w.stop()
			}
		})
	})
}

// stop finishes the accepted commits, if that is still possible.
func (w simEffects) stop() {
	s, r := w.n.s, w.simReplica
	d := s.latency()
	if s.chance(3) {
		d = s.upTo(3 * time.Second)
	}
	s.after(d, func() {
		w.event(w.life, func() {
			if r.inFlight || r.opening {
				w.stop()
				return
			}
			r.serving = nil
			r.m.onStopped()
		})
	})
}

// fetch fetches a checkpoint of another node's store, or fails.
func (w simEffects) fetch(ticket uint64) {
	s, r := w.n.s, w.simReplica
	s.fetches++
	s.after(s.latency(), func() {
		source := s.nodes[s.rng.IntN(simNodes)]
		if source == w.n || !source.up || source.cut || w.n.cut || source.paused > s.now || s.chance(4) {
			w.event(w.life, func() { r.m.onFetched(ticket, errCut) })
			return
		}
		from := source.shards[w.shard]
		from.disk = from.store.clone()
		copied := from.store.clone()
		s.after(s.latency(), func() {
			w.event(w.life, func() {
				r.store, r.disk = copied, copied.clone()
				r.applied = position(r.store.mark)
				w.load(func() {
					r.m.state = r.store
					r.m.onFetched(ticket, nil)
				})
			})
		})
	})
}

func (w simEffects) report(what string, err error) {
	w.n.s.note("%s/%d %s: %v", w.n.name, w.shard, what, err)
}

// client asks an owner, or a node that believes it is one, for a number.
func (s *sim) client() {
	if s.calm {
		return
	}
	s.after(s.upTo(100*time.Millisecond), s.client)
	s.ask(s.rng.IntN(simShards))
}

func (s *sim) ask(shard int) {
	for _, n := range s.nodes {
		r := n.shards[shard]
		if r.serving != nil && n.up && n.paused <= s.now {
			s.nextID++
			id := s.nextID
			what := s.rng.IntN(4)
			if (n.cut || n.mute) && s.rng.IntN(20) > 0 {
				what = 0 // a write would reveal at once who the owner is
			}
			switch what {
			case 0, 1:
				r.readOne()
			case 2:
				r.event(n.life, func() { r.write(id) })
			case 3:
				r.event(n.life, func() {
					r.write(id)
					r.submit(nil, func(error) {}) // another caller of the same shard
				})
			}
		}
	}
}

// write issues a number. Writes that are requested during a commit share the next one.
func (r *simReplica) write(id uint64) {
	if r.serving == nil {
		return
	}
	r.waiting = append(r.waiting, op{id, r.next, r.n.shards[simControl].known})
	r.next++
	r.commit()
}

func (r *simReplica) commit() {
	if r.inFlight || len(r.waiting) == 0 {
		return
	}
	s, ops := r.n.s, r.waiting
	r.waiting, r.inFlight = nil, true
	r.submit(ops, func(err error) {
		r.inFlight = false
		if err != nil {
			r.serving, r.waiting = nil, nil
			return
		}
		for _, o := range ops {
			if !s.stored[o.id] {
				s.fail("I2: %s/%d got the answer that %d is stored", r.n.name, r.shard, o.id)
			}
			s.acked[r.shard] = max(s.acked[r.shard], o.value+1)
			s.answered++
		}
		r.commit()
	})
}

// submit commits operations, and checks that there is one answer, in time.
func (r *simReplica) submit(ops []op, done func(error)) {
	s, n, life, since := r.n.s, r.n, r.n.life, r.n.s.now
	answered := false
	s.after(time.Duration(float64(simGiveUp)/n.rate)+10*time.Second, func() {
		if !answered && n.up && n.life == life && max(n.paused, r.stuck) <= since {
			s.fail("I7: at %s/%d a commit has no answer", n.name, r.shard)
		}
	})
	changes := encodeOps(ops)
	r.m.submit(r.m.tenure.ownership, &commit{
		changes: changes,
		apply:   func(m store.Mark) error { return r.store.Apply(changes, m) },
		done: func(err error) {
			if answered {
				s.fail("a commit was answered twice")
			}
			if err != nil && !errors.Is(err, ErrDeposed) {
				s.fail("a commit gave %v", err)
			}
			answered = true
			done(err)
		},
	})
}

// readOne answers from memory how many numbers have been issued. It does not call the machine, which may not know the
// current time yet.
func (r *simReplica) readOne() {
	s := r.n.s
	if r.serving == nil || r.inFlight || len(r.waiting) > 0 {
		return
	}
	o := r.serving
	switch err := o.confirm(r.n.clock()); {
	case errors.Is(err, errLapsed): // the log is asked
		next, acked := r.next, s.acked[r.shard]
		r.submit(nil, func(err error) {
			if err != nil {
				return
			}
			s.reads++
			if next < acked && !s.wild {
				s.fail("%s/%d answers, with a record in the log, that %d numbers have been given, and %d had", r.n.name,
					r.shard, next, acked)
			}
		})
		return
	case err != nil:
		r.serving = nil
		return
	}
	s.reads++
	if r.next < s.acked[r.shard] && !s.wild {
		s.fail("%s/%d answers that %d numbers have been given, and %d have", r.n.name, r.shard, r.next,
			s.acked[r.shard])
	}
}

// trouble injects faults, again and again.
func (s *sim) trouble() {
	if s.calm {
		return
	}
	s.after(s.upTo(6*time.Second), s.trouble)
	n := s.nodes[s.rng.IntN(simNodes)]
	shard := s.rng.IntN(simShards)
	r := n.shards[shard]
	switch s.rng.IntN(13) {
	case 0, 1:
		if n.up {
			n.crash()
			life := n.life
			s.after(s.upTo(20*time.Second), func() {
				if !n.up && n.life == life {
					n.start()
				}
			})
		}
	case 2, 3:
		d := s.upTo(15 * time.Second)
		s.note("%s is paused for %v", n.name, d)
		n.paused = max(n.paused, s.now+d)
	case 4, 5:
		d := s.upTo(25 * time.Second)
		s.note("%s is cut off for %v", n.name, d)
		n.cut = true
		s.after(d, func() { n.cut = false })
	case 6:
		n.mute = true
		s.after(s.upTo(15*time.Second), func() { n.mute = false })
	case 12:
		d := s.upTo(15 * time.Second)
		s.note("%s/%d waits for its disk for %v", n.name, shard, d)
		r.stuck = max(r.stuck, s.now+d)
	case 7:
		d := s.upTo(8 * time.Second)
		s.note("log %d has no majority for %v", shard, d)
		s.logs[shard].down = s.now + d
	case 8:
		s.trim(shard)
		r.image = r.disk // for later
	case 9:
		if n.up {
			s.handOver(r)
		}
	case 10:
		s.swapDisk(n, func(*simReplica) *simStore { return &simStore{} })
	case 11:
		s.swapDisk(n, func(r *simReplica) *simStore { return r.image })
	}
}

func (s *sim) trim(shard int) {
	var set []*simReplica
	for _, n := range s.nodes {
		set = append(set, n.shards[shard])
	}
	s.logs[shard].trim(set)
}

// swapDisk starts a node with another disk: an empty one, or an old image. It does nothing if no other node has the
// records that were trimmed from the log.
func (s *sim) swapDisk(n *simNode, image func(*simReplica) *simStore) {
	for shard, l := range s.logs {
		left := false
		for _, other := range s.nodes {
			left = left || other != n && position(other.shards[shard].disk.mark)+1 >= l.first
		}
		if !left {
			return
		}
	}
	if n.up {
		n.crash()
	}
	s.note("%s gets another disk", n.name)
	for _, r := range n.shards {
		r.disk = image(r).clone()
	}
	n.start()
}

// handOver asks a node to give up a shard, and waits for it.
func (s *sim) handOver(r *simReplica) {
	life, n := r.n.life, r.n
	done := false
	r.event(life, func() {
		s.note("%s/%d is to hand over", n.name, r.shard)
		r.m.handOver(func(error) { done = true })
	})
	s.after(2*time.Minute, func() {
		if !done && n.up && n.life == life {
			s.fail("I7: %s/%d has not handed over", n.name, r.shard)
		}
	})
}

// heal ends all trouble, waits until the cluster must be well, and checks that it is.
func (s *sim) heal() {
	s.calm = true
	for _, l := range s.logs {
		l.down = 0
	}
	for _, n := range s.nodes {
		n.cut, n.mute = false, false
		if !n.up {
			n.start()
		}
	}
	// Paused nodes continue at their time, and pending calls of the engine take a while.
	s.run(s.now + 30*time.Second + simBound)
	for shard := range simShards {
		before := s.answered
		s.nextID++
		var owners []string
		for _, n := range s.nodes {
			if r := n.shards[shard]; r.m.role == Owner && r.serving != nil {
				owners = append(owners, n.name)
				r.event(n.life, func() { r.write(s.nextID) })
			}
		}
		s.run(s.now + 10*time.Second)
		if len(owners) != 1 || s.answered == before && s.failure == "" {
			s.fail("I6: shard %d is served by %q, %d answers", shard, owners, s.answered-before)
		}
	}
	s.run(s.now + 2*time.Minute)
	for shard, l := range s.logs {
		for _, n := range s.nodes {
			r := n.shards[shard]
			if position(r.store.mark) != l.last() {
				s.fail("%s/%d has come to %d of %d, as %s", n.name, shard, r.store.mark.Position, l.last(), r.m.role)
			}
			if len(r.m.handOvers) > 0 || r.inFlight {
				s.fail("I7: at %s/%d a caller still waits", n.name, shard)
			}
			if !slices.Equal(r.store.ops, s.nodes[0].shards[shard].store.ops) {
				s.fail("I1: %s/%d is not like the others", n.name, shard)
			}
		}
	}
}

func simulate(t *testing.T, seed int64) *sim { return newSim(t, seed).play() }

func (s *sim) play() *sim {
	s.run(simLength)
	if s.failure == "" {
		s.heal()
	}
	return s
}

func TestSimulation(t *testing.T) {
	first, n := int64(0), int64(*seeds)
	if *seed >= 0 {
		first, n = *seed, 1
	} else if testing.Short() {
		n = min(n, 50)
	}
	var answered, reads, claims, fetches, loads int
	for seed := first; seed < first+n; seed++ {
		s := simulate(t, seed)
		answered += s.answered
		reads += s.reads
		claims += s.claims
		fetches += s.fetches
		loads += s.loads
		if len(s.trace) > 0 {
			fmt.Fprintln(os.Stderr, strings.Join(s.trace, "\n"))
		}
		if s.failure != "" {
			t.Fatalf("seed %d, %s\nto reproduce it: go test ./internal/cluster/replica -run Simulation -seed %d",
				seed, s.failure, seed)
		}
	}
	t.Logf("%d simulations: %d commits answered, %d reads, %d claims, %d checkpoints, %d of them needed by another shard", n, answered, reads, claims, fetches, loads)
	if *seed < 0 && (answered == 0 || reads == 0 || claims == 0 || fetches == 0 || loads == 0) {
		t.Error("nothing happened that the simulation checks")
	}
}

// The same seed gives the same result.
func TestSimulationCanBeRepeated(t *testing.T) {
	for seed := range int64(5) {
		a, b := simulate(t, seed), simulate(t, seed)
		if a.number != b.number || a.answered != b.answered ||
			fmt.Sprint(a.logs[0].marks) != fmt.Sprint(b.logs[0].marks) {
			t.Errorf("seed %d has two results", seed)
		}
	}
}
