package replica_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sluicemq/sluice/internal/cluster/replica"
	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/store"
)

// badLog is a log that sometimes loses requests and answers.
type badLog struct {
	sharedlog.Log
	mu  sync.Mutex
	rng *rand.Rand
}

func (l *badLog) luck(n int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rng.IntN(n)
}

func (l *badLog) Append(ctx context.Context, after sharedlog.Position, data []byte) error {
	switch l.luck(20) {
	case 0:
		return errors.New("lost on the way there")
	case 1:
		_ = l.Log.Append(ctx, after, data)
		return errors.New("lost on the way back")
	}
	return l.Log.Append(ctx, after, data)
}

func (l *badLog) Read(ctx context.Context, from sharedlog.Position) ([]sharedlog.Record, sharedlog.Extent, error) {
	if l.luck(20) == 0 {
		return nil, sharedlog.Extent{}, errors.New("lost")
	}
	return l.Log.Read(ctx, from)
}

// messages is a node that serves queues.
type messages struct {
	*node
	disk *vfs.MemFS

	mu    sync.Mutex
	shard *shard.Shard // while it serves
}

func (m *messages) serving() *shard.Shard {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.shard
}

// A FIFO topic feeds two queues: one is consumed throughout, the other at the end.
const (
	orders queue.ID = iota + 1
	audit
	topic
)

func configs() (out []queue.Config) {
	for _, id := range []queue.ID{orders, audit, topic} {
		out = append(out, queue.Config{
			ID: id, ARN: fmt.Sprintf("arn:aws:sqs:us-east-1:000000000000:q%d.fifo", id), FIFO: true,
			Visibility: time.Second, Retention: time.Hour, Internal: id == topic,
		})
	}
	return out
}

// numberOf returns the number at the beginning of a message's body.
func numberOf(body string) string { return strings.Fields(body)[0] }

// publication is message i: sometimes with more copies than fit into a commit.
func publication(i int) queue.Publication {
	body := fmt.Sprint(i)
	if i%25 == 0 {
		body += " " + strings.Repeat("x", 300<<10)
	}
	p := queue.Publication{Topic: topic, Group: "g", Dedup: fmt.Sprint(i)}
	for _, id := range []queue.ID{orders, audit} {
		p.Copies = append(p.Copies, queue.Copy{
			Queue: id, Message: queue.Outgoing{Body: body, Group: "g", Dedup: p.Dedup},
		})
	}
	return p
}

func serveMessages(t *testing.T, name string, disk *vfs.MemFS, e engine) *messages {
	m := &messages{disk: disk}
	m.node = run(t, name, disk, e, func(o *replica.Options, h *host) {
		o.GiveUp = 2 * time.Second
		h.serve = func(own *replica.Ownership) (func(), error) {
			s, err := shard.Open(shard.Options{
				Store: own.Store(), Commit: own.Commit, Confirm: own.Confirm, MaxCommit: 512 << 10, Logger: o.Logger,
				Configs: configs,
			})
			if err != nil {
				return nil, err
			}
			m.mu.Lock()
			defer m.mu.Unlock()
			m.shard = s
			return func() {
				m.mu.Lock()
				m.shard = nil
				m.mu.Unlock()
				s.Close()
			}, nil
		}
	})
	m.Want(true, 0)
	return m
}

// The real engine runs on real stores, whose owners hand over, are killed, and return with the state of their disks
// after a loss of power, while the log loses answers. Each message arrives once and in order, and no deleted message
// returns.
func TestQueueOutlivesItsOwners(t *testing.T) {
	const count = 300
	mem := sharedlog.NewMemory(time.Second, nil)
	rng := rand.New(rand.NewPCG(1, 9))
	e := engine{&badLog{Log: mem.Log("1"), rng: rand.New(rand.NewPCG(2, 9))}, mem}
	nodes := make(map[string]*messages)
	var mu sync.Mutex // of nodes
	for _, name := range []string{"a", "b", "c"} {
		nodes[name] = serveMessages(t, name, vfs.NewCrashableMem(), e)
	}
	// ask calls f with the shard of the owner until it succeeds.
	ask := func(f func(*shard.Shard) error) {
		for end := time.Now().Add(2 * time.Minute); ; {
			mu.Lock()
			var s *shard.Shard
			for _, n := range nodes {
				if serving := n.serving(); serving != nil {
					s = serving
				}
			}
			mu.Unlock()
			err := errors.New("no replica serves")
			if s != nil {
				err = f(s)
			}
			if err == nil {
				return
			}
			if time.Now().After(end) {
				t.Errorf("failing for two minutes: %v", err)
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range count {
			ask(func(s *shard.Shard) error {
				_, err := s.Publish(t.Context(), []queue.Publication{publication(i)})
				return err
			})
			time.Sleep(5 * time.Millisecond)
		}
	})
	var got []string // in the order in which they first arrived
	wg.Go(func() {
		deleted := make(map[string]bool)
		for end := time.Now().Add(3 * time.Minute); len(deleted) < count && time.Now().Before(end); {
			var received []shard.Message
			ask(func(s *shard.Shard) (err error) {
				received, err = s.Receive(t.Context(), orders, queue.Receive{Max: 10}, 200*time.Millisecond)
				return err
			})
			var receipts []queue.Receipt
			for _, m := range received {
				number := numberOf(m.Body)
				if deleted[number] {
					t.Errorf("message %s returns after its deletion", number)
				}
				if !slices.Contains(got, number) {
					got = append(got, number)
				}
				receipts = append(receipts, queue.Receipt{Position: m.Position, Number: m.Receipt})
			}
			if len(receipts) == 0 {
				continue
			}
			ask(func(s *shard.Shard) error {
				errs, err := s.Delete(t.Context(), orders, receipts)
				for i := range errs {
					if err == nil && errs[i] == nil {
						deleted[numberOf(received[i].Body)] = true
					}
				}
				return err
			})
		}
	})
	stop := make(chan struct{})
	var faults sync.WaitGroup
	faults.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Duration(100+rng.IntN(400)) * time.Millisecond):
			}
			name := string(rune('a' + rng.IntN(3)))
			n := nodes[name]
			switch rng.IntN(4) {
			case 0:
				if err := n.HandOver(t.Context()); err != nil {
					t.Error(err)
				}
			case 1:
				_ = n.FlushStore() // it may be between two stores
			default:
				disk := n.disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: rng.IntN(101), RNG: rng})
				if err := n.stop(); err != nil {
					t.Error(err)
				}
				restarted := serveMessages(t, name, disk, e)
				mu.Lock()
				nodes[name] = restarted
				mu.Unlock()
			}
		}
	})
	wg.Wait()
	close(stop)
	faults.Wait()
	var want []string
	for i := range count {
		want = append(want, fmt.Sprint(i))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	var kept []string
	for len(kept) < count && !t.Failed() {
		ask(func(s *shard.Shard) error {
			received, err := s.Receive(t.Context(), audit, queue.Receive{Max: 10}, time.Second)
			if err != nil || len(received) == 0 {
				return cmp.Or(err, errors.New("nothing is received"))
			}
			var receipts []queue.Receipt
			for _, m := range received {
				if number := numberOf(m.Body); !slices.Contains(kept, number) { // a delete may have failed
					kept = append(kept, number)
				}
				receipts = append(receipts, queue.Receipt{Position: m.Position, Number: m.Receipt})
			}
			_, err = s.Delete(t.Context(), audit, receipts)
			return err
		})
	}
	if !slices.Equal(kept, want) {
		t.Errorf("the other queue has %q", kept)
	}
	for _, n := range nodes {
		eventually.True(t, n.name+" has caught up", func() bool { return n.Position() == mustEnd(t, mem) })
	}
	same(t, nodes["a"].node, nodes["b"].node, nodes["c"].node)
	for _, n := range nodes {
		if err := n.stop(); err != nil {
			t.Error(err)
		}
		isSound(t, n.disk)
	}
}

// isSound checks a store as the doctor does.
func isSound(t *testing.T, disk *vfs.MemFS) {
	t.Helper()
	s, err := store.OpenReadOnly("store", store.Options{FS: disk})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range configs() {
		recount, err := queue.Check(s, c)
		if err != nil || len(recount.Problems) > 0 || recount.Messages > 0 {
			t.Errorf("%s: %d messages, problems %q, %v", c.ARN, recount.Messages, recount.Problems, err)
		}
	}
	left, problems, err := queue.Leftovers(s, configs())
	if err != nil || len(left) > 0 || len(problems) > 0 {
		t.Errorf("leftovers %v, problems %q, %v", left, problems, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func mustEnd(t *testing.T, m *sharedlog.Memory) sharedlog.Position {
	t.Helper()
	_, extent, err := m.Log("1").Read(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	return extent.Last
}
