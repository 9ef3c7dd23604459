package replica

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/store"
)

var (
	errNoAnswer = errors.New("no answer") // the simulated network's
	errCut      = errors.New("not connected")
)

// simLog is a log that keeps all records ever appended to it.
type simLog struct {
	s       *sim
	records [][]byte
	marks   []store.Mark // after each of them; marks[0] is the mark of an empty store
	counts  []uint64     // operations up to each of them
	first   sharedlog.Position
	down    time.Duration // no majority until then
	// held is a record that the leader has accepted and its followers have not, yet. For other nodes the log no longer
	// ends before it, and they cannot read it.
	held *[]byte
}

func (l *simLog) last() sharedlog.Position { return sharedlog.Position(len(l.records)) }

func (l *simLog) extent() sharedlog.Extent {
	return sharedlog.Extent{First: l.first, Last: l.last(), Bytes: int64(l.last()-l.first+1) * 100}
}

// append handles a record that reaches the log. The answer may be lost.
func (l *simLog) append(after sharedlog.Position, data []byte) error {
	s := l.s
	switch {
	case s.now < l.down:
		return errNoAnswer
	case l.held != nil || l.last() != after:
		return sharedlog.ErrConflict
	case s.chance(30):
		l.held = &data
		s.after(s.upTo(2*time.Second), func() {
			l.held = nil
			if s.rng.IntN(2) == 0 {
				l.store(data)
			}
		})
		return errNoAnswer
	}
	l.store(data)
	return nil
}

func (l *simLog) store(data []byte) {
	s := l.s
	r, err := decode(data)
	if err != nil {
		s.fail("a record that cannot be read was appended: %v", err)
		return
	}
	m := l.marks[len(l.records)]
	if err := r.follows(m); err != nil {
		s.fail("I3: record %d: %v", l.last()+1, err)
		return
	}
	l.records = append(l.records, data)
	l.marks = append(l.marks, r.mark(m))
	n := l.counts[len(l.counts)-1]
	for _, op := range decodeOps(r.changes) {
		if op.value != n {
			s.fail("I4: operation %d was given %d by %s in epoch %d, and %d came before", op.id, op.value, r.owner,
				r.epoch, n)
			return
		}
		n++
		s.stored[op.id] = true
	}
	l.counts = append(l.counts, n)
}

func (l *simLog) read(from sharedlog.Position, most int) ([]sharedlog.Record, sharedlog.Extent, error) {
	if from < l.first {
		return nil, l.extent(), sharedlog.ErrTrimmed
	}
	var out []sharedlog.Record
	for p := from; p <= l.last() && len(out) < most; p++ {
		out = append(out, sharedlog.Record{Position: p, Data: l.records[p-1]})
	}
	return out, l.extent(), nil
}

// trim trims as TrimPoint says, by the true state of the disks.
func (l *simLog) trim(nodes []*simReplica) {
	var set []Need
	for _, r := range nodes {
		set = append(set, Need{Durable: position(r.disk.mark), Live: r.n.up && !r.n.cut && r.n.paused <= l.s.now})
	}
	p := TrimPoint(set, l.extent(), []int64{1000, 1 << 30}[l.s.rng.IntN(2)])
	have := 0
	for _, n := range set {
		if n.Durable >= p {
			have++
		}
	}
	if have <= len(nodes)/2 {
		l.s.fail("I5: trimmed to %d, which only %d stores have", p, have)
	}
	if p >= l.first {
		l.first = p + 1
	}
}

// simLeases are leases by a correct clock.
type simLeases struct {
	s    *sim
	held map[string]*simLease
}

type simLease struct {
	name  string
	until time.Duration
}

func (l *simLeases) take(name string) (*simLease, error) {
	if h := l.held[name]; h != nil && l.s.now < h.until && (!l.s.wild || !l.s.chance(5)) {
		return nil, sharedlog.ErrHeld
	}
	h := &simLease{name, l.s.now + simTTL}
	l.held[name] = h
	return h, nil
}

func (l *simLeases) renew(h *simLease) error {
	if l.held[h.name] != h || l.s.now >= h.until {
		return sharedlog.ErrLost
	}
	h.until = l.s.now + simTTL
	return nil
}

func (l *simLeases) release(h *simLease) {
	if l.held[h.name] == h {
		delete(l.held, h.name)
	}
}

// A lease has this method outside simulations only because the interface requires it.
func (*simLease) Renew(context.Context, []byte) error { panic("the simulation renews it") }
func (*simLease) Release(context.Context) error       { panic("the simulation releases it") }

// simStore is a store that forgets unflushed changes: the applied operations, in order.
type simStore struct {
	mark store.Mark
	ops  []op
}

func (s *simStore) Mark() store.Mark { return s.mark }

func (s *simStore) Apply(changes []byte, m store.Mark) error {
	s.mark = m
	s.ops = append(s.ops, decodeOps(changes)...)
	return nil
}

func (s *simStore) clone() *simStore { return &simStore{s.mark, s.ops[:len(s.ops):len(s.ops)]} }

// op is what clients request: a number that no client has got before. need is how many operations of the control shard
// the issuing node knew: the next owner must know as many.
type op struct{ id, value, need uint64 }

func encodeOps(ops []op) []byte {
	var b []byte
	for _, o := range ops {
		for _, v := range []uint64{o.id, o.value, o.need} {
			b = binary.BigEndian.AppendUint32(b, uint32(v))
		}
	}
	return b
}

func decodeOps(b []byte) (out []op) {
	u32 := func(at int) uint64 { return uint64(binary.BigEndian.Uint32(b[at:])) }
	for ; len(b) >= 12; b = b[12:] {
		out = append(out, op{u32(0), u32(4), u32(8)})
	}
	return out
}
