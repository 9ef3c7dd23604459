package replica

import (
	"testing"
	"time"
)

// TestRetakenLeaseProvesNothing makes an owner lose its lease, and regain it after another node has taken it, claimed
// the shard and died. Until the log has shown the first owner who owns the shard, it must not answer from memory.
func TestRetakenLeaseProvesNothing(t *testing.T) {
	for seed := range int64(40) {
		s := newSim(t, seed)
		s.calm, s.wild = true, false
		first := s.ownerOf(t, 0, nil)
		first.n.cut = true
		second := s.ownerOf(t, 0, first)
		s.nextID++
		second.event(second.n.life, func() { second.write(s.nextID) })
		s.until(t, "a number is given out", func() bool { return s.acked[0] > 0 })
		for _, n := range s.nodes {
			if n != first.n {
				n.crash()
			}
		}
		s.run(s.now + 2*simTTL) // the second's lease has ended
		if !first.m.owns() {
			t.Fatalf("seed %d: the first owner has given up, so the test shows nothing", seed)
		}
		first.n.cut = false
		for end := s.now + 4*simTTL; s.now < end && s.failure == "" && first.m.owns(); {
			s.run(s.now + time.Millisecond)
			// otherwise a record would show who the owner is
			if o := first.serving; o != nil && o.confirm(first.n.clock()) == nil {
				first.readOne()
			}
		}
		if s.failure != "" {
			t.Errorf("seed %d, %s", seed, s.failure)
		}
	}
}

// TestRetakenLeaseIsProven makes an owner lose its lease, and regain it although no other node has owned the shard. It
// can answer from memory again after it has written a record.
func TestRetakenLeaseIsProven(t *testing.T) {
	for seed := range int64(10) {
		s := newSim(t, seed)
		s.calm, s.wild = true, false
		first := s.ownerOf(t, 0, nil)
		for _, n := range s.nodes {
			n.mute = true
		}
		mayAnswer := func() bool { return first.serving != nil && first.serving.confirm(first.n.clock()) == nil }
		s.until(t, "the lease has run out", func() bool { return !mayAnswer() })
		s.run(s.now + 2*simTTL)
		for _, n := range s.nodes {
			n.mute = n != first.n
		}
		asked := s.now
		s.until(t, "the owner answers from memory again", func() bool {
			if s.now >= asked { // as clients do: a record proves whose the shard is
				asked = s.now + 200*time.Millisecond
				s.nextID++
				id := s.nextID
				first.event(first.n.life, func() { first.write(id) })
			}
			return mayAnswer()
		})
		if first.store.mark.Epoch != 1 {
			t.Errorf("seed %d: the shard has had another owner", seed)
		}
	}
}

// ownerOf waits for an owner of a shard other than one, which may be nil.
func (s *sim) ownerOf(t *testing.T, shard int, but *simReplica) (owner *simReplica) {
	t.Helper()
	s.until(t, "a shard has an owner", func() bool {
		for _, n := range s.nodes {
			if r := n.shards[shard]; r != but && r.m.role == Owner && r.serving != nil {
				owner = r
			}
		}
		return owner != nil
	})
	return owner
}

func (s *sim) until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := s.now + time.Minute; !condition(); {
		if s.now >= end || s.failure != "" {
			t.Fatalf("seed %d: does not hold: %s; %s", s.seed, what, s.failure)
		}
		s.run(s.now + time.Millisecond)
	}
}

// TestHandOverEndsBeforeNextTry loses the release of the lease when a shard is handed over late. The node does not try
// to own the shard again before the caller of the hand-over has its answer.
func TestHandOverEndsBeforeNextTry(t *testing.T) {
	for seed := range int64(20) {
		s := newSim(t, seed)
		s.calm, s.wild = true, false
		first := s.ownerOf(t, 0, nil)
		for _, n := range s.nodes {
			n.mute = true
		}
		done := false
		first.event(first.n.life, func() { first.m.handOver(func(error) { done = true }) })
		first.n.paused = s.now + 3*simTTL
		s.until(t, "the shard is no longer served", func() bool { return first.m.role == Follower })
		first.n.mute = false
		s.until(t, "the hand-over is over, or the node owns the shard again",
			func() bool { return done || first.m.owns() })
		if !done {
			t.Errorf("seed %d: the node owns the shard again, and the hand-over has not ended", seed)
		}
	}
}
