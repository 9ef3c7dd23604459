package shard_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/store"
)

// Queues of two shards: the first serves the sources, the second their
// dead-letter queues.
const (
	source      queue.ID = 11
	letters     queue.ID = 12
	fifoSource  queue.ID = 13
	fifoLetters queue.ID = 14
)

func arn(id queue.ID) string { return fmt.Sprintf("arn:aws:sqs:us-east-1:000000000000:q%d", id) }

func openShard(t *testing.T, configs ...queue.Config) *rig {
	t.Helper()
	st, err := store.Open("store", store.Options{Disk: store.NewMemoryDisk(nil)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return openWith(t, st, time.Now, configs...)
}

// pair opens two shards that serve half of the queues each.
func pair(t *testing.T) (from, to *rig) {
	t.Helper()
	configs := func(served ...queue.ID) (out []queue.Config) {
		for _, id := range []queue.ID{source, letters, fifoSource, fifoLetters} {
			c := queue.Config{
				ID: id, ARN: arn(id), Retention: time.Hour, Visibility: time.Minute, FIFO: id >= fifoSource,
				Elsewhere: !slices.Contains(served, id),
			}
			if !c.Elsewhere && (id == source || id == fifoSource) {
				c.Redrive = &queue.Redrive{Target: arn(id + 1), MaxReceives: 1}
			}
			out = append(out, c)
		}
		return out
	}
	return openShard(t, configs(source, fifoSource)...), openShard(t, configs(letters, fifoLetters)...)
}

// forward forwards the messages of r until the test ends, or stop is called.
func forward(t *testing.T, r *rig, to shard.Deliver) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := later(func() error { return shard.Forward(ctx, r.Shard, to) })
	stop = func() {
		cancel()
		select {
		case err := <-done:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("forwarding ended with %v", err)
			}
			done = later(func() error { return context.Canceled })
		case <-time.After(wait):
			t.Error("forwarding does not stop")
		}
	}
	t.Cleanup(stop)
	return stop
}

// bury sends messages to a queue and receives them until they are dead letters.
func bury(t *testing.T, r *rig, id queue.ID, first, n int) {
	t.Helper()
	for sent := 0; sent < n; {
		var batch []queue.Outgoing
		for ; len(batch) < 10 && sent < n; sent++ {
			m := queue.Outgoing{Body: fmt.Sprintf("%06d", first+sent), Dedup: fmt.Sprint(first + sent)}
			if id == fifoSource {
				m.Group = "g"
			}
			batch = append(batch, m)
		}
		if _, err := r.Send(t.Context(), id, batch); err != nil {
			t.Fatal(err)
		}
		now := time.Duration(0)
		if _, err := r.Receive(t.Context(), id, queue.Receive{Max: 10, Timeout: &now}, 0); err != nil {
			t.Fatal(err)
		}
	}
	equal(t, r.receive(t, id, 10, 0))
}

// dig receives and deletes n messages, and returns them; those of a standard queue, which has no order, sorted.
func dig(t *testing.T, r *rig, id queue.ID, n int) []string {
	t.Helper()
	var out []string
	for end := time.Now().Add(wait); len(out) < n; {
		got, err := r.Receive(t.Context(), id, queue.Receive{Max: 10}, time.Second)
		if err != nil && !errors.Is(err, shard.ErrUnavailable) {
			t.Fatal(err)
		}
		var receipts []queue.Receipt
		for _, m := range got {
			receipts = append(receipts, queue.Receipt{Position: m.Position, Number: m.Receipt})
			if m.Source == "" || m.ReceiveCount() != 2 {
				t.Errorf("dead letter %+v", m)
			}
		}
		for len(receipts) > 0 {
			if _, err := r.Delete(t.Context(), id, receipts); err == nil {
				break
			} else if !errors.Is(err, shard.ErrUnavailable) {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Millisecond)
		}
		out = append(out, bodies(got)...)
		if time.Now().After(end) {
			t.Fatalf("%d of %d messages have arrived: %v", len(out), n, out)
		}
	}
	if id == fifoLetters {
		return out
	}
	slices.Sort(out)
	return out
}

// empty waits until no message waits to be forwarded.
func empty(t *testing.T, r *rig, id queue.ID) {
	t.Helper()
	eventually.Succeeds(t, func() error {
		n, err := r.Counts(t.Context(), id)
		if err == nil && n != (queue.Counts{}) {
			err = fmt.Errorf("still waiting: %+v", n)
		}
		return err
	})
}

func numbers(first, n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("%06d", first+i))
	}
	return out
}

func TestDeadLettersReachAnotherShard(t *testing.T) {
	from, to := pair(t)
	forward(t, from, to.Accept)
	for _, id := range []queue.ID{source, fifoSource} {
		bury(t, from, id, 0, 25)
		equal(t, dig(t, to, id+1, 25), numbers(0, 25)...)
		empty(t, from, id+1)
		// Again, after the outbox was empty.
		bury(t, from, id, 100, 1)
		equal(t, dig(t, to, id+1, 1), numbers(100, 1)...)
	}
}

// Messages that wait while Forward does not run are counted, and are forwarded later.
func TestDeadLettersWait(t *testing.T) {
	from, to := pair(t)
	bury(t, from, source, 0, 300)
	if n, err := from.Counts(t.Context(), letters); err != nil || n != (queue.Counts{Visible: 300}) {
		t.Errorf("counted %+v, %v", n, err)
	}
	fails := atomic.Int64{}
	stop := forward(t, from, func(context.Context, queue.ID, queue.FromShard, []queue.Transfer) error {
		fails.Add(1)
		return errors.New("no owner")
	})
	eventually.True(t, "tried again", func() bool { return fails.Load() >= 2 })
	stop()
	if n, err := from.Counts(t.Context(), letters); err != nil || n != (queue.Counts{Visible: 300}) {
		t.Errorf("counted %+v, %v", n, err)
	}
	forward(t, from, to.Accept) // takes over the messages that the first has left
	equal(t, dig(t, to, letters, 300), numbers(0, 300)...)
	empty(t, from, letters)
}

// However deliveries fail, before or after the fact, and however often they are repeated, even by a replaced owner that
// does not know it, each message arrives once and in order.
func TestForwardingIsExactlyOnce(t *testing.T) {
	for _, id := range []queue.ID{source, fifoSource} {
		t.Run(fmt.Sprint(id), func(t *testing.T) {
			t.Parallel()
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			random := rand.New(rand.NewPCG(seed, 0))
			from, to := pair(t)
			var stale [][]queue.Transfer
			forward(t, from,
				func(ctx context.Context, id queue.ID, source queue.FromShard, messages []queue.Transfer) error {
					stale = append(stale, messages)
					switch random.IntN(6) {
					case 0:
						return errors.New("lost on the way")
					case 1:
						return errors.Join(to.Accept(ctx, id, source, messages), errors.New("the answer is lost"))
					case 2:
						if err := to.Accept(ctx, id, source, messages[:1+random.IntN(len(messages))]); err != nil {
							return err
						}
					case 3:
						if err := to.Accept(ctx, id, source, messages); err != nil {
							return err
						}
						if err := to.Accept(ctx, id, source, stale[random.IntN(len(stale))]); err != nil {
							return err
						}
					}
					return to.Accept(ctx, id, source, messages)
				})
			const rounds, each = 30, 20
			for i := range rounds {
				bury(t, from, id, each*i, each)
			}
			equal(t, dig(t, to, id+1, rounds*each), numbers(0, rounds*each)...)
			empty(t, from, id+1)
			equal(t, to.receive(t, id+1, 10, 0))
		})
	}
}

// A commit may fail on either side, even if it was made.
func TestForwardingOutlivesFailedCommits(t *testing.T) {
	for _, side := range []string{"source", "destination"} {
		for _, made := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, made %t", side, made), func(t *testing.T) {
				t.Parallel()
				from, to := pair(t)
				bury(t, from, source, 0, 400)
				r := from
				if side == "destination" {
					r = to
				}
				var commits atomic.Int64
				fail := func() error {
					if commits.Add(1) == 1 {
						return errors.New("the commit has failed")
					}
					return nil
				}
				if made {
					r.commitThen.Store(&fail)
				} else {
					r.commit.Store(&fail)
				}
				forward(t, from, to.Accept)
				equal(t, dig(t, to, letters, 400), numbers(0, 400)...)
				empty(t, from, letters)
				if commits.Load() < 2 {
					t.Error("no commit has failed")
				}
			})
		}
	}
}

// A shard that does not answer delays no messages for other shards, however many of its queues are tried.
func TestForwardingIsNotHeldUpByOneShard(t *testing.T) {
	const queues = 40
	var here, there []queue.Config
	for i := range queue.ID(queues) {
		dead := queue.Config{ID: 100 + i, ARN: arn(100 + i), Retention: time.Hour, Visibility: time.Minute}
		living := dead
		living.ID, living.ARN = 200+i, arn(200+i)
		living.Redrive = &queue.Redrive{Target: dead.ARN, MaxReceives: 1}
		there = append(there, dead)
		dead.Elsewhere = true
		here = append(here, living, dead)
	}
	from, to := openShard(t, here...), openShard(t, there...)
	for i := range queue.ID(queues) {
		bury(t, from, 200+i, int(i), 1)
	}
	const reached = 100 + queues - 1
	hung := make(chan queue.ID, queues)
	forward(t, from, func(ctx context.Context, id queue.ID, source queue.FromShard, messages []queue.Transfer) error {
		if id == reached {
			return to.Accept(ctx, id, source, messages)
		}
		select {
		case hung <- id:
		default:
		}
		if len(hung)%2 == 0 {
			return errors.New("no owner")
		}
		<-ctx.Done()
		return context.Cause(ctx)
	})
	<-hung
	equal(t, dig(t, to, reached, 1), fmt.Sprintf("%06d", queues-1))
	for i := range 20 {
		bury(t, from, 200+queues-1, i, 1)
		equal(t, dig(t, to, reached, 1), fmt.Sprintf("%06d", i))
	}
}

// An account whose destination accepts single messages, and then hangs, does not delay another account's messages.
func TestAccountsShareForwarding(t *testing.T) {
	const busy, alone = 40, 500
	redriven := func(id queue.ID, account string) (living, dead queue.Config) {
		dead = queue.Config{
			ID: id, ARN: fmt.Sprintf("arn:aws:sqs:us-east-1:%s:q%d", account, id),
			Retention: time.Hour, Visibility: time.Minute, Elsewhere: true,
		}
		living = dead
		living.ID, living.ARN, living.Elsewhere = id+1, dead.ARN+"-living", false
		living.Redrive = &queue.Redrive{Target: dead.ARN, MaxReceives: 1}
		return living, dead
	}
	living, dead := redriven(alone, "222222222222")
	here := []queue.Config{living, dead}
	for i := range queue.ID(busy) {
		living, dead := redriven(100+2*i, "111111111111")
		here = append(here, living, dead)
	}
	dead.Elsewhere = false
	from, to := openShard(t, here...), openShard(t, dead)
	hung := make(chan queue.ID, busy)
	over, end := context.WithCancel(t.Context())
	forward(t, from, func(ctx context.Context, id queue.ID, source queue.FromShard, messages []queue.Transfer) error {
		switch {
		case id == alone:
			return to.Accept(ctx, id, source, messages)
		case len(messages) > 1:
			hung <- id
			<-over.Done()
			return context.Cause(over)
		}
		return nil
	})
	t.Cleanup(end) // before forwarding is stopped
	for i := range queue.ID(busy) {
		bury(t, from, 101+2*i, 0, 10)
	}
	for range shard.ForwardsMost / 2 {
		<-hung
	}
	bury(t, from, alone+1, 0, 40)
	equal(t, dig(t, to, alone, 40), numbers(0, 40)...)
}

func TestForwardingEndsWithTheShard(t *testing.T) {
	from, _ := pair(t)
	bury(t, from, source, 0, 1)
	tried := make(chan struct{}, 100)
	done := later(func() error {
		return shard.Forward(context.Background(), from.Shard,
			func(ctx context.Context, _ queue.ID, _ queue.FromShard, _ []queue.Transfer) error {
				tried <- struct{}{}
				<-ctx.Done()
				return ctx.Err()
			})
	})
	<-tried
	from.Close()
	select {
	case err := <-done:
		if !errors.Is(err, shard.ErrUnavailable) {
			t.Errorf("ended with %v", err)
		}
	case <-time.After(wait):
		t.Error("forwarding goes on")
	}
}

// Deleting a queue removes its messages wherever they are.
func TestNothingIsForwardedToADeletedQueue(t *testing.T) {
	from, to := pair(t)
	bury(t, from, source, 0, 5)
	if err := to.Drop(t.Context(), letters); err != nil {
		t.Fatal(err)
	}
	refused := make(chan struct{}, 1)
	forward(t, from, func(ctx context.Context, id queue.ID, source queue.FromShard, messages []queue.Transfer) error {
		err := to.Accept(ctx, id, source, messages)
		if !errors.Is(err, queue.ErrNoQueue) {
			return errors.Join(err, errors.New("the queue is there"))
		}
		select {
		case refused <- struct{}{}:
		default:
		}
		return err
	})
	<-refused
	if n, err := from.Counts(t.Context(), letters); err != nil || n.Visible != 5 {
		t.Errorf("counted %+v, %v", n, err)
	}
	if err := from.Drop(t.Context(), letters); err != nil {
		t.Fatal(err)
	}
	if _, err := from.Counts(t.Context(), letters); !errors.Is(err, queue.ErrNoQueue) {
		t.Errorf("counts: %v", err)
	}
	// Without the dead-letter queue, messages stay in their queue.
	from.send(t, source, "after")
	now := time.Duration(0)
	for range 3 {
		got, err := from.Receive(t.Context(), source, queue.Receive{Max: 1, Timeout: &now}, 0)
		if err != nil || len(got) != 1 {
			t.Errorf("received %v, %v", got, err)
		}
	}
}

// Messages that were moved to dead letters on another shard return to their source.
func TestMoveTaskReachesAnotherShard(t *testing.T) {
	from, to := pair(t)
	forward(t, from, to.Accept)
	forward(t, to, from.Accept)
	bury(t, from, source, 0, 30)
	eventually.True(t, "arrived", func() bool {
		n, err := to.Counts(t.Context(), letters)
		if err != nil {
			t.Fatal(err)
		}
		return n.Visible == 30
	})
	if err := to.StartMove(t.Context(), letters, queue.MoveTask{ID: "t"}); err != nil {
		t.Fatal(err)
	}
	var back []string
	for end := time.Now().Add(wait); len(back) < 30 && time.Now().Before(end); {
		back = append(back, from.receive(t, source, 10, time.Second)...)
	}
	slices.Sort(back)
	equal(t, back, numbers(0, 30)...)
	tasks, err := to.Moves(t.Context(), letters)
	if err != nil || len(tasks) != 1 || tasks[0].Status != queue.MoveCompleted || tasks[0].Moved != 30 {
		t.Errorf("tasks %+v, %v", tasks, err)
	}
	empty(t, to, source)
	empty(t, to, letters)
}

// A shard that did not know a queue forwards the waiting messages to itself. Messages on their way when the queue is
// purged do not arrive afterwards. Messages sent later do.
func TestPurgeBesideAnOutboxOfTheShardItself(t *testing.T) {
	config := queue.Config{ID: source, ARN: arn(source), Retention: time.Hour, Elsewhere: true}
	r := openShard(t, config)
	p := queue.Publication{Copies: []queue.Copy{{Queue: source, Message: queue.Outgoing{Body: "before"}}}}
	if _, err := r.Publish(t.Context(), []queue.Publication{p}); err != nil {
		t.Fatal(err)
	}
	config.Elsewhere = false
	if err := r.Configure(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	purged := false
	arrived := make(chan error, 10)
	forward(t, r, func(ctx context.Context, id queue.ID, from queue.FromShard, messages []queue.Transfer) error {
		if !purged {
			purged = true
			if err := r.Purge(ctx, id); err != nil {
				t.Error(err)
			}
		}
		err := r.Accept(ctx, id, from, messages)
		arrived <- err
		return err
	})
	if err := <-arrived; err != nil {
		t.Fatal(err)
	}
	r.send(t, source, "after")
	if n, err := r.Counts(t.Context(), source); err != nil || n.Visible != 1 {
		t.Errorf("of a purged message, and one sent since: %+v, %v", n, err)
	}
}
