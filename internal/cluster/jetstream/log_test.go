package jetstream

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/cluster/sharedlog/logtest"
	"github.com/sluicemq/sluice/internal/tool/wait"
)

func TestLogOfOne(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1, nil)
	logtest.TestLog(t, c.newLog)
}

func TestLogOfThree(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, nil)
	logtest.TestLog(t, c.newLog)
}

// writer appends records as the owner of a shard does: it repeats one until its outcome is known.
type writer struct {
	t   *testing.T
	log *Log
	at  sharedlog.Position
}

// append appends another record, and reports whether its success is certain before ctx ends.
func (w *writer) append(ctx context.Context) bool {
	w.t.Helper()
	data := fmt.Sprintf("record %d", w.at+1)
	for ctx.Err() == nil {
		err := w.log.Append(ctx, w.at, []byte(data))
		if errors.Is(err, sharedlog.ErrConflict) {
			records, e, readErr := w.log.Read(ctx, w.at+1)
			if readErr != nil {
				continue
			}
			if len(records) == 0 {
				w.t.Fatalf("the append after %d conflicts with nothing: %+v", w.at, e)
			}
			if string(records[0].Data) != data {
				w.t.Fatalf("at %d is %q", w.at+1, records[0].Data)
			}
			err = nil
		}
		if err == nil {
			w.at++
			return true
		}
	}
	return false
}

func (w *writer) mustAppend(ctx context.Context, n int) {
	w.t.Helper()
	for range n {
		if !w.append(ctx) {
			w.t.Fatalf("appends do not continue after %d", w.at)
		}
	}
}

// check checks that the log consists of the writer's records.
func (w *writer) check(ctx context.Context, l *Log) {
	w.t.Helper()
	next := sharedlog.Position(1)
	for {
		records, e, err := l.Read(ctx, next)
		if err != nil {
			w.t.Fatal(err)
		}
		if len(records) == 0 {
			if e.Last != w.at || next != w.at+1 {
				w.t.Fatalf("the log ends at %d, %d records read; %d were appended", e.Last, next-1, w.at)
			}
			return
		}
		for _, r := range records {
			if r.Position != next || string(r.Data) != fmt.Sprintf("record %d", next) {
				w.t.Fatalf("at %d is %q", r.Position, r.Data)
			}
			next++
		}
	}
}

// followed follows a log, checks the records, and reports its position.
func followed(t *testing.T, l *Log) *atomic.Uint64 {
	at := new(atomic.Uint64)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := l.Follow(ctx, 1, func(r sharedlog.Record) error {
			if uint64(r.Position) != at.Load()+1 || string(r.Data) != fmt.Sprintf("record %d", r.Position) {
				return fmt.Errorf("after %d comes %d, %q", at.Load(), r.Position, r.Data)
			}
			at.Store(uint64(r.Position))
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("follow ended: %v", err)
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return at
}

func reach(t *testing.T, ctx context.Context, at *atomic.Uint64, to sharedlog.Position) {
	t.Helper()
	for at.Load() < uint64(to) {
		if err := wait.For(ctx, time.Millisecond); err != nil {
			t.Fatalf("the follower is at %d, not at %d", at.Load(), to)
		}
	}
}

// The server that leads the log dies: appends, followers and leases continue with the others, and nothing is lost or
// done twice.
func TestLeaderDies(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, nil)
	ctx := testContext(t)
	leader := c.leader(c.log(0, "1"))
	owner, other := (leader+1)%3, (leader+2)%3
	w := &writer{t: t, log: c.log(owner, "1")}
	at := followed(t, c.log(other, "1"))
	leases, err := c.conns[owner].Leases(ctx, 30*time.Second, 3)
	if err != nil {
		t.Fatal(err)
	}
	lease := taken(ctx, t, leases, "shard/1", "0")
	w.mustAppend(ctx, 50)
	reach(t, ctx, at, w.at)

	// It dies during appends.
	appended := make(chan struct{})
	go func() {
		defer close(appended)
		for range 200 {
			if !w.append(ctx) {
				t.Errorf("appends do not continue after %d", w.at)
				return
			}
		}
	}()
	time.Sleep(20 * time.Millisecond)
	c.kill(leader)
	<-appended
	reach(t, ctx, at, w.at)
	answered(ctx, t, "renew", func() error { return lease.Renew(ctx, []byte("1")) })
	w.check(ctx, c.log(other, "1"))

	// It returns, and learns what it has missed.
	c.start(leader)
	w.mustAppend(ctx, 10)
	reach(t, ctx, followed(t, c.log(leader, "1")), w.at)
	w.check(ctx, c.log(leader, "1"))
}

// Without its majority the log loses nothing and answers nothing; it continues when the majority is back.
func TestMajorityLost(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, nil)
	ctx := testContext(t)
	w := &writer{t: t, log: c.log(0, "1")}
	at := followed(t, c.log(0, "1"))
	w.mustAppend(ctx, 20)
	c.kill(1)
	c.kill(2)
	short, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if w.append(short) {
		t.Fatal("an append succeeds without a majority")
	}
	if _, _, err := w.log.Read(short, 1); err == nil {
		t.Error("a read that has to be up to date succeeds without a majority")
	}
	c.start(1)
	w.mustAppend(ctx, 20)
	reach(t, ctx, at, w.at)
	w.check(ctx, c.log(1, "1"))
}

// All servers die at once: acknowledged records are there when they are back.
func TestAllDie(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, nil)
	ctx := testContext(t)
	w := &writer{t: t, log: c.log(0, "1")}
	w.mustAppend(ctx, 30)
	answered(ctx, t, "trim", func() error { return w.log.Trim(ctx, 5) })
	for i := range 3 {
		c.kill(i)
	}
	for i := range 3 {
		c.start(i)
	}
	l := c.log(1, "1")
	w.log = l
	w.mustAppend(ctx, 5)
	records, e, err := l.Read(ctx, 6)
	if err != nil || len(records) == 0 || e.First != 6 || e.Last != 35 {
		t.Errorf("%d records, %+v, %v", len(records), e, err)
	}
}

func TestLead(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, nil)
	ctx := testContext(t)
	w := &writer{t: t, log: c.log(0, "1")}
	w.mustAppend(ctx, 5)
	for range 2 {
		for i := range 3 {
			if err := w.log.Lead(ctx, c.servers[i].Name()); err != nil {
				t.Fatal(err)
			}
			w.mustAppend(ctx, 5)
		}
	}
	w.check(ctx, c.log(2, "1"))
	if err := w.log.Lead(ctx, "nobody"); err == nil || ctx.Err() != nil {
		t.Errorf("a server that is not there leads: %v", err)
	}
}

// A server that is stopped hands over its leads first.
func TestStopHandsOver(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, nil)
	ctx := testContext(t)
	var writers []*writer
	for n := range 4 {
		w := &writer{t: t, log: c.log(1, fmt.Sprint(n))}
		if err := w.log.Lead(ctx, c.servers[0].Name()); err != nil {
			t.Fatal(err)
		}
		w.mustAppend(ctx, 3)
		writers = append(writers, w)
	}
	c.servers[0].handOver(ctx)
	if led := c.servers[0].led(); len(led) > 0 || ctx.Err() != nil {
		t.Fatalf("it still leads %q", led)
	}
	if c.servers[0].inner.JetStreamIsLeader() {
		t.Error("it still leads the meta group")
	}
	c.conns[0].Close()
	c.servers[0].Stop(ctx)
	c.servers[0] = nil
	for _, w := range writers {
		w.mustAppend(ctx, 3)
		w.check(ctx, w.log)
	}
}
