package jetstream

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/tool/wait"
)

// sessionTest is two processes that request the same leases.
type sessionTest struct {
	*testing.T
	ctx     context.Context
	here    *Leases
	another *Leases
}

func newSessionTest(t *testing.T) *sessionTest {
	t.Helper()
	t.Parallel()
	c := newCluster(t, 1, nil)
	s := &sessionTest{T: t, ctx: testContext(t)}
	conn, err := c.servers[0].Connect(s.ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	for leases, conn := range map[**Leases]*Conn{&s.here: c.conns[0], &s.another: conn} {
		if *leases, err = conn.Leases(s.ctx, leaseTTL, 1); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// mustRenew renews leases that must still be held.
func (s *sessionTest) mustRenew(held ...sharedlog.Lease) {
	s.Helper()
	for _, lease := range held {
		if err := lease.Renew(s.ctx, []byte("1")); err != nil {
			s.Fatal(err)
		}
	}
}

// takenElsewhere waits until the other process gets a lease. Meanwhile it renews others here.
func (s *sessionTest) takenElsewhere(name string, held ...sharedlog.Lease) sharedlog.Lease {
	s.Helper()
	for {
		s.mustRenew(held...)
		leases, err := s.another.List(s.ctx)
		if _, is := leases[name]; err == nil && !is {
			lease, err := s.another.Take(s.ctx, name, []byte("2"))
			if err == nil {
				return lease
			}
			s.Logf("take %s: %v", name, err)
		}
		if err := wait.For(s.ctx, 20*time.Millisecond); err != nil {
			s.Fatalf("%s is not free: %v", name, err)
		}
	}
}

// All leases of a process are renewed with one message.
func TestSessionSendsOneMessage(t *testing.T) {
	s := newSessionTest(t)
	var held []sharedlog.Lease
	for n := range 8 {
		held = append(held, taken(s.ctx, t, s.here, fmt.Sprint("shard/", n), "1"))
	}
	of := s.here.session()
	<-of.turn // no message is sent until all have asked
	before := s.here.published.Load()
	asked := time.Now()
	var all sync.WaitGroup
	for _, lease := range held {
		all.Go(func() {
			if err := lease.Renew(s.ctx, []byte("1")); err != nil {
				t.Error(err)
			}
		})
	}
	for waiting := 0; waiting < len(held); {
		if err := wait.For(s.ctx, time.Millisecond); err != nil {
			t.Fatalf("%d of %d have asked: %v", waiting, len(held), err)
		}
		waiting = 0
		of.mu.Lock()
		for _, r := range of.asked {
			if r.at.After(asked) {
				waiting++
			}
		}
		of.mu.Unlock()
	}
	of.turn <- struct{}{}
	all.Wait()
	if sent := s.here.published.Load() - before; sent != 1 {
		t.Errorf("%d leases were renewed with %d messages", len(held), sent)
	}
}

// A lease that its holder does not renew expires, though the session renews others.
func TestSessionLeavesOut(t *testing.T) {
	s := newSessionTest(t)
	kept, left := taken(s.ctx, t, s.here, "kept", "1"), taken(s.ctx, t, s.here, "left", "1")
	now := s.takenElsewhere("left", kept)
	if err := left.Renew(s.ctx, []byte("1")); !errors.Is(err, sharedlog.ErrLost) {
		t.Errorf("an omitted lease is renewed: %v", err)
	}
	if _, err := s.another.Take(s.ctx, "kept", nil); !errors.Is(err, sharedlog.ErrHeld) {
		t.Errorf("a renewed lease was taken: %v", err)
	}
	s.mustRenew(kept, now)
}

// A process that takes a lease of an expired session ends the session, and with it all its leases.
func TestSessionEnds(t *testing.T) {
	s := newSessionTest(t)
	first, second := taken(s.ctx, t, s.here, "first", "1"), taken(s.ctx, t, s.here, "second", "1")
	now := s.takenElsewhere("first")
	for _, lease := range []sharedlog.Lease{first, second} {
		if err := lease.Renew(s.ctx, []byte("1")); !errors.Is(err, sharedlog.ErrLost) {
			t.Errorf("a lease of an ended session is renewed: %v", err)
		}
	}
	// A lease that no other process has taken is free.
	if _, err := s.here.List(s.ctx); err != nil {
		t.Fatal(err)
	}
	again := taken(s.ctx, t, s.here, "second", "1")
	if _, err := s.here.Take(s.ctx, "first", nil); !errors.Is(err, sharedlog.ErrHeld) {
		t.Errorf("a lease was taken twice: %v", err)
	}
	s.mustRenew(now, again)
}

// A process that has not seen a session's last message cannot end the session.
func TestSessionHasALaterMessage(t *testing.T) {
	s := newSessionTest(t)
	held := taken(s.ctx, t, s.here, "held", "1")
	if err := s.another.read(s.ctx); err != nil {
		t.Fatal(err)
	}
	old := s.another.seen.leases[sessionPrefix+s.here.session().id()]
	s.mustRenew(held)
	err := s.another.end(s.ctx, ending{s.here.session().id(), old.sequence})
	if !errors.Is(err, sharedlog.ErrHeld) {
		t.Errorf("a renewed session was ended: %v", err)
	}
	s.mustRenew(held)
}
