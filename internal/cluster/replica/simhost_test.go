package replica

import (
	"testing"
	"time"
)

// In a cluster, every node has a copy of the control shard in memory, its catalog, and the owner of another shard
// reads its queues there: data of a queue that the catalog does not know counts as left over. The simulated host has
// such a copy, and rule I8 says of it:
//
//	I8  The node that opens a shard knows every operation of the control shard that any earlier owner of that shard
//	    knew when it committed.
//
// A node makes sure of that as the product does: it reads how far the control shard's log reaches, and waits until its
// own replica has come as far. Therefore the position that a replica tells must not be ahead of the host's memory. To
// load a checkpoint into memory takes time, in which the replica handles no event, and other shards of the node do.

const (
	simCatchUp  = 5 * time.Second // catchUpTimeout of a node
	simLookLate = 20 * time.Millisecond
)

// loaded records that the host's memory matches the store, and then reports the position.
func (r *simReplica) loaded() {
	r.known = uint64(len(r.store.ops))
	r.reached = position(r.store.mark)
}

// load loads the store, which a checkpoint has replaced, into the host's memory, and then calls f.
func (w simEffects) load(f func()) {
	s, r := w.n.s, w.simReplica
	if w.shard != simControl {
		r.loaded()
		f()
		return
	}
	if s.early {
		r.reached = position(r.store.mark)
	}
	d := s.latency()
	if s.chance(2) {
		d = s.upTo(4 * time.Second)
	}
	for _, other := range w.n.shards {
		if other.store.needs() > r.known {
			s.loads++
		}
	}
	r.stuck = max(r.stuck, s.now+d)
	w.event(w.life, func() {
		r.loaded()
		f()
	})
}

// catchUp implements Host.Prepare and Host.Claimed. It answers when the node's replica of the control shard has reached
// the end that the log had at the time of the call, or with an error.
func (w simEffects) catchUp(answer func(error)) {
	s, control := w.n.s, w.n.shards[simControl]
	if w.simReplica == control {
		w.await(answer)
		return
	}
	end := control.log.last()
	w.call(w.fromLog, func() error {
		if s.now < control.log.down {
			return errNoAnswer
		}
		end = control.log.last()
		return nil
	}, func(err error) {
		if err != nil {
			answer(err)
			return
		}
		until := s.now + simCatchUp
		var look func()
		look = func() {
			switch {
			case control.reached >= end:
				w.await(answer)
			case s.now > until:
				answer(errNoAnswer)
			default:
				s.after(s.upTo(simLookLate), func() { w.event(w.life, look) })
			}
		}
		look()
	}, readTimeout)
}

// needs returns how many operations of the control shard the owners knew that have written a shard's store.
func (s *simStore) needs() (most uint64) {
	for _, o := range s.ops {
		most = max(most, o.need)
	}
	return most
}

// knowsEnough checks I8 for a shard that is being opened.
func (r *simReplica) knowsEnough() {
	if known, need := r.n.shards[simControl].known, r.store.needs(); r.shard != simControl && known < need {
		r.n.s.fail("I8: %s/%d is opened by a node that knows %d operations of the control shard, and holds what needs %d",
			r.n.name, r.shard, known, need)
	}
}

// The simulation detects a node that reports the position of a checkpoint before it has loaded it.
func TestSimulationFindsEarlyPositions(t *testing.T) {
	const most = 300
	for seed := range int64(most) {
		s := newSim(t, seed)
		s.early = true
		s.play()
		if s.failure != "" {
			t.Logf("seed %d, %s", seed, s.failure)
			return
		}
	}
	t.Errorf("%d simulations have found no violation", most)
}
