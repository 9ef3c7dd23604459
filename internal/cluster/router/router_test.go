package router_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/remote"
	"github.com/sluicemq/sluice/internal/cluster/router"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

func TestAnyNodeServesAnyQueue(t *testing.T) {
	c := newCluster(t, 3, "a", "b", "c")
	for _, node := range c.nodes {
		r := c.router(node)
		for _, id := range []queue.ID{single, wide, narrow} {
			want := numbered(node, 25)
			for batch := range slices.Chunk(want, 10) {
				send(t, r, id, batch...)
			}
			equal(t, fmt.Sprintf("queue %d from node %s", id, node), drain(t, r, id), want)
		}
	}
	r := c.router("a")
	if _, err := r.Send(t.Context(), absent, outgoing("m")); !errors.Is(err, queue.ErrNoQueue) {
		t.Errorf("send to no queue: %v", err)
	}
	if _, err := r.Delete(t.Context(), absent, make([]queue.Receipt, 1)); !errors.Is(err, queue.ErrNoQueue) {
		t.Errorf("delete from no queue: %v", err)
	}
}

func TestSendsSpreadOverAllShards(t *testing.T) {
	c := newCluster(t, 4, "a", "b")
	r := c.router("a") // which owns half of them
	for range 200 {
		send(t, r, wide, "m")
	}
	at := c.where(wide)
	for n := range c.shards {
		if at[n] < 10 {
			t.Errorf("shard %d has %d of 200 messages", n, at[n])
		}
	}
	send(t, r, narrow, "m")
	equal(t, "messages of a queue that was narrowed", c.where(narrow), map[int]int{1: 1})
}

// A long poll finds messages on one of many shards at once, and a short poll after some attempts.
func TestNoShardIsForgotten(t *testing.T) {
	c := newCluster(t, 8, "a", "b")
	r := c.router("a")
	for n := range c.shards {
		if _, err := c.shards[n].shard.Send(t.Context(), wide, outgoing("m")); err != nil {
			t.Fatal(err)
		}
		got, err := r.Receive(t.Context(), wide, queue.Receive{Max: 10}, testTimeout)
		if err != nil || len(got) != 1 {
			t.Fatalf("shard %d: %v, %v", n, got, err)
		}
		if _, err := r.ChangeVisibility(t.Context(), wide,
			[]queue.Visibility{{Receipt: receipt(&got[0])}}); err != nil {
			t.Fatal(err)
		}
		got = nil
		for try := 0; len(got) == 0; try++ {
			if got, err = r.Receive(t.Context(), wide, queue.Receive{Max: 10}, 0); err != nil || try > 1000 {
				t.Fatalf("shard %d: %v", n, err)
			}
		}
		if results, err := r.Delete(t.Context(), wide, []queue.Receipt{receipt(&got[0])}); err != nil ||
			results[0] != nil {
			t.Fatalf("delete: %v, %v", results, err)
		}
	}
}

func TestLongPollHearsAllShards(t *testing.T) {
	c := newCluster(t, 4, "a", "b")
	r := c.router("a")
	for n := range c.shards {
		got := make(chan []shard.Message, 1)
		go func() {
			list, _ := r.Receive(context.Background(), wide, queue.Receive{Max: 1}, testTimeout)
			got <- list
		}()
		time.Sleep(5 * time.Millisecond)
		if _, err := c.shards[n].shard.Send(t.Context(), wide, outgoing("m")); err != nil {
			t.Fatal(err)
		}
		if list := <-got; len(list) != 1 {
			t.Fatalf("shard %d: got %v", n, list)
		}
	}
}

// When messages arrive on all shards together, one poll gets those of one shard and the others stay visible.
func TestPollLeavesNothingBehind(t *testing.T) {
	c := newCluster(t, 4, "a", "b")
	r := c.router("a")
	for range 30 {
		got := make(chan []shard.Message, 1)
		go func() {
			list, _ := r.Receive(context.Background(), wide, queue.Receive{Max: 1}, testTimeout)
			got <- list
		}()
		time.Sleep(time.Millisecond)
		for n := range c.shards {
			go func() { _, _ = c.shards[n].shard.Send(context.Background(), wide, outgoing("m")) }()
		}
		list := <-got
		if len(list) != 1 {
			t.Fatalf("got %v", list)
		}
		if _, err := r.Delete(t.Context(), wide, []queue.Receipt{receipt(&list[0])}); err != nil {
			t.Fatal(err)
		}
		eventually.True(t, "all others visible", func() bool { return c.settle(r, wide).Visible == 3 })
		for _, m := range drainMessages(t, r, wide) {
			if m.Receives != 1 {
				t.Errorf("an undelivered message has the receive count %d", m.Receives)
			}
		}
	}
}

func TestAbandonedPollLeavesNothingInvisible(t *testing.T) {
	c := newCluster(t, 3, "a", "b")
	r := c.router("a")
	for range 30 {
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() {
			defer close(over)
			if got, err := r.Receive(ctx, wide, queue.Receive{Max: 1}, testTimeout); err == nil && len(got) > 0 {
				_ = r.Return(context.Background(), wide, []queue.Delivery{got[0].Delivery}, "")
			}
		}()
		go cancel()
		send(t, r, wide, "m")
		<-over
		c.settle(r, wide)
		equal(t, "left", drain(t, r, wide), []string{"m"})
	}
}

func TestDrainEndsPolls(t *testing.T) {
	c := newCluster(t, 3, "a", "b")
	for _, id := range []queue.ID{single, wide} {
		r := c.router("a")
		ended := make(chan error, 1)
		go func() {
			got, err := r.Receive(context.Background(), id, queue.Receive{Max: 1}, time.Hour)
			if len(got) > 0 {
				err = errors.New("messages out of nothing")
			}
			ended <- err
		}()
		time.Sleep(5 * time.Millisecond)
		r.Drain()
		if err := <-ended; err != nil {
			t.Errorf("queue %d: %v", id, err)
		}
		if got, err := r.Receive(t.Context(), id, queue.Receive{Max: 1}, time.Hour); err != nil || len(got) > 0 {
			t.Errorf("queue %d afterwards: %v, %v", id, got, err)
		}
	}
}

// A shard may be without owner for a while: calls wait for the next one.
func TestCallsWaitForTheNextOwner(t *testing.T) {
	c := newCluster(t, 2, "a", "b")
	r := c.routerWaiting("a", testTimeout)
	var giving sync.WaitGroup
	defer giving.Wait()
	c.take(2)
	giving.Go(func() {
		time.Sleep(50 * time.Millisecond)
		c.give(2, "b")
	})
	send(t, r, single, "m")
	giving.Wait() // it is the owner once the message is there, but give may still be under way
	c.take(2)
	giving.Go(func() { c.give(2, "a") })
	got, err := r.Receive(t.Context(), single, queue.Receive{Max: 10}, 0) // a long poll would only wait for its own end
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "received", bodies(got), []string{"m"})
}

// A queue without any owner soon returns an error that is safe to repeat.
func TestNoOwner(t *testing.T) {
	c := newCluster(t, 2, "a", "b")
	r := c.router("a")
	c.take(1)
	c.take(2)
	for _, id := range []queue.ID{single, wide} {
		if _, err := r.Send(t.Context(), id, outgoing("m")); !errors.Is(err, shard.ErrNotBegun) {
			t.Errorf("send: %v", err)
		}
		for _, wait := range []time.Duration{0, 10 * time.Millisecond, time.Hour} {
			if got, err := r.Receive(t.Context(), id, queue.Receive{Max: 1}, wait); !errors.Is(err,
				shard.ErrUnavailable) {
				t.Errorf("receive, waiting %v: %v, %v", wait, got, err)
			}
		}
		if _, err := r.Counts(t.Context(), id); !errors.Is(err, shard.ErrUnavailable) {
			t.Errorf("counts: %v", err)
		}
	}
}

// As long as one shard has an owner, a spread queue accepts messages and delivers those that it can reach.
func TestSpreadQueueHasNoGap(t *testing.T) {
	c := newCluster(t, 3, "a", "b", "c")
	r := c.router("a")
	for range 20 {
		send(t, r, wide, "m")
	}
	there := c.where(wide)
	c.network.Cut("b", true) // with shard 1
	c.take(2)
	for range 20 {
		send(t, r, wide, "n")
	}
	for want := there[3] + 20; want > 0; {
		got, err := r.Receive(t.Context(), wide, queue.Receive{Max: 10}, testTimeout)
		if err != nil || len(got) == 0 {
			t.Fatalf("%d more are there, and %v, %v is received", want, got, err)
		}
		for i := range got {
			if _, err := r.Delete(t.Context(), wide, []queue.Receipt{receipt(&got[i])}); err != nil {
				t.Fatal(err)
			}
		}
		want -= len(got)
	}
	poll := make(chan []string)
	go func() {
		got, err := r.Receive(context.Background(), wide, queue.Receive{Max: 1}, testTimeout)
		if err != nil {
			t.Error(err)
		}
		poll <- bodies(got)
	}()
	time.Sleep(10 * time.Millisecond)
	if there[1]+there[2] == 0 {
		send(t, r, wide, "m")
	}
	c.network.Cut("b", false)
	c.give(2, "a")
	equal(t, "the poll's message", <-poll, []string{"m"})
	c.take(1)
	c.give(1, "b")
}

// stopped carries out its calls, and never answers.
type stopped struct {
	remote.Shard
	begun chan struct{}
}

func (s *stopped) Send(ctx context.Context, id queue.ID, m []queue.Outgoing) ([]queue.Sent, error) {
	_, _ = s.Shard.Send(ctx, id, m)
	s.begun <- struct{}{}
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

func (s *stopped) Receive(ctx context.Context, _ queue.ID, _ queue.Receive, _ time.Duration) ([]shard.Message, error) {
	s.begun <- struct{}{}
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// A request that may have been carried out is not repeated: the client gets an error as soon as the shard has another
// owner.
func TestUnknownOutcome(t *testing.T) {
	c := newCluster(t, 2, "a", "b")
	r := c.router("b")
	c.take(2)
	c.give(2, "a")
	begun := make(chan struct{}, 16)
	c.stand(2, func(s remote.Shard) remote.Shard { return &stopped{s, begun} })
	failed := make(chan error, 1)
	go func() {
		_, err := r.Send(context.Background(), single, outgoing("m"))
		failed <- err
	}()
	<-begun
	c.stand(2, nil)
	c.take(2)
	c.give(2, "b")
	if err := <-failed; !errors.Is(err, shard.ErrUnavailable) || errors.Is(err, shard.ErrNotBegun) {
		t.Errorf("got %v", err)
	}
	equal(t, "stored", drain(t, r, single), []string{"m"})
}

// A poll at an owner that no longer answers continues at the next one.
func TestPollFollowsTheShard(t *testing.T) {
	for _, id := range []queue.ID{single, wide} {
		c := newCluster(t, 2, "a", "b")
		r := c.router("b")
		begun := make(chan struct{}, 16)
		c.take(2)
		c.give(2, "a")
		c.stand(2, func(s remote.Shard) remote.Shard { return &stopped{s, begun} })
		got := make(chan []string, 1)
		go func() {
			list, err := r.Receive(context.Background(), id, queue.Receive{Max: 1}, time.Hour)
			if err != nil {
				t.Error(err)
			}
			got <- bodies(list)
		}()
		<-begun
		c.stand(2, nil)
		for _, node := range []string{"b", "a", "b", "a"} {
			c.take(2)
			c.give(2, node)
		}
		if _, err := c.shards[2].shard.Send(t.Context(), id, outgoing("m")); err != nil {
			t.Fatal(err)
		}
		equal(t, "received", <-got, []string{"m"})
	}
}

// Only the entries of a batch fail whose shard is unavailable.
func TestBatchOverShards(t *testing.T) {
	c := newCluster(t, 2, "a", "b")
	r := c.router("a")
	for n := range c.shards {
		if _, err := c.shards[n].shard.Send(t.Context(), wide, outgoing("x", "y")); err != nil {
			t.Fatal(err)
		}
	}
	var all []shard.Message
	for len(all) < 4 {
		got, err := r.Receive(t.Context(), wide, queue.Receive{Max: 1}, testTimeout)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, got...)
	}
	var receipts []queue.Receipt
	var changes []queue.Visibility
	for i := range all {
		receipts = append(receipts, receipt(&all[i]))
		changes = append(changes, queue.Visibility{Receipt: receipt(&all[i]), Timeout: time.Minute})
	}
	changes = append(changes, queue.Visibility{Receipt: queue.Receipt{Position: all[0].Position + 100}})
	results, err := r.ChangeVisibility(t.Context(), wide, changes)
	if err != nil || !slices.Equal(results, []error{nil, nil, nil, nil, queue.ErrNotReceived}) {
		t.Errorf("changed: %v, %v", results, err)
	}
	c.take(2)
	results, err = r.Delete(t.Context(), wide, receipts)
	if err != nil {
		t.Fatal(err)
	}
	gone := 0
	for _, err := range results {
		switch {
		case err == nil:
			gone++
		case !errors.Is(err, shard.ErrUnavailable):
			t.Errorf("deleted: %v", err)
		}
	}
	if gone != 2 {
		t.Errorf("%d of 4 are deleted", gone)
	}
	c.give(2, "b")
	if results, err = r.Delete(t.Context(), wide, receipts); err != nil || !slices.Equal(results, make([]error, 4)) {
		t.Errorf("deleted again: %v, %v", results, err)
	}
	if counts := c.settle(r, wide); counts != (queue.Counts{}) {
		t.Errorf("left: %+v", counts)
	}
	c.take(1)
	c.take(2)
	if _, err = r.Delete(t.Context(), wide, receipts); !errors.Is(err, shard.ErrUnavailable) {
		t.Errorf("with no shard: %v", err)
	}
	c.give(1, "a")
	c.give(2, "b")
}

func TestPurgeReachesAllShards(t *testing.T) {
	c := newCluster(t, 3, "a", "b")
	r := c.router("a")
	for range 30 {
		send(t, r, wide, "m")
	}
	c.take(3)
	if err := r.Purge(t.Context(), wide); !errors.Is(err, shard.ErrUnavailable) {
		t.Errorf("with a shard missing: %v", err)
	}
	c.give(3, "b")
	if err := r.Purge(t.Context(), wide); err != nil {
		t.Errorf("again: %v", err)
	}
	if counts, err := r.Counts(t.Context(), wide); err != nil || counts != (queue.Counts{}) {
		t.Errorf("left: %+v, %v", counts, err)
	}
	if err := r.Purge(t.Context(), wide); !errors.Is(err, queue.ErrPurgeInProgress) {
		t.Errorf("once more: %v", err)
	}
}

// An undo restores the messages that all shards have kept, including those of other nodes. If one is missing, another
// call gets its messages.
func TestUndoPurgeReachesAllShards(t *testing.T) {
	c := newCluster(t, 3, "a", "b")
	r := c.router("a")
	if _, err := r.UndoPurge(t.Context(), wide); !errors.Is(err, queue.ErrNothingKept) {
		t.Errorf("before a purge: %v", err)
	}
	for range 30 {
		send(t, r, wide, "m")
	}
	if err := r.Purge(t.Context(), wide); err != nil {
		t.Fatal(err)
	}
	kept, err := r.Kept(t.Context(), wide)
	if err != nil || kept.Messages != 30 || kept.Undoing {
		t.Errorf("kept are %+v, %v", kept, err)
	}
	c.take(3)
	if _, err := r.UndoPurge(t.Context(), wide); !errors.Is(err, shard.ErrUnavailable) {
		t.Errorf("with a shard missing: %v", err)
	}
	c.give(3, "b")
	if _, err := r.UndoPurge(t.Context(), wide); err != nil {
		t.Errorf("again: %v", err)
	}
	if counts, err := r.Counts(t.Context(), wide); err != nil || counts != (queue.Counts{Visible: 30}) {
		t.Errorf("restored are %+v, %v", counts, err)
	}
	if kept, err := r.Kept(t.Context(), wide); err != nil || kept != (queue.Kept{}) {
		t.Errorf("still kept are %+v, %v", kept, err)
	}
}

// The stored messages may be larger than one answer between nodes can be: then a receive returns fewer messages, at
// every node.
func TestNothingStoredMakesAQueueUnreadable(t *testing.T) {
	c := newCluster(t, 2, "a", "b")
	for _, id := range []queue.ID{single, groups} {
		for _, node := range c.nodes {
			r := c.router(node)
			want := numbered(node, 10)
			for batch := range slices.Chunk(want, 3) {
				messages := outgoing(batch...)
				for i := range messages {
					messages[i].Trace = strings.Repeat("t", 3<<20)
					if id == groups {
						messages[i].Group, messages[i].Dedup = "g", batch[i]
					}
				}
				if _, err := r.Send(t.Context(), id, messages); err != nil {
					t.Fatal(err)
				}
			}
			got := drainMessages(t, r, id)
			equal(t, fmt.Sprintf("queue %d at node %s", id, node), bodies(got), want)
			for _, m := range got {
				if m.ReceiveCount() != 1 {
					t.Errorf("message %s was received %d times", m.Body, m.ReceiveCount())
				}
			}
		}
	}
}

// A refused purge removes nothing, not even messages on their way between shards.
func TestRefusedPurgeTakesNothing(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, "a", "b")
	r := c.router("a")
	if err := r.Purge(t.Context(), groups); err != nil {
		t.Fatal(err)
	}
	p := queue.Publication{}
	for i := range 20 {
		p.Copies = append(p.Copies, queue.Copy{Queue: groups, Message: queue.Outgoing{
			Body: "m", Dedup: fmt.Sprint(i), Group: fmt.Sprint(i),
		}})
	}
	if _, err := c.shards[1].shard.Publish(t.Context(), []queue.Publication{p}); err != nil {
		t.Fatal(err)
	}
	if err := r.Purge(t.Context(), groups); !errors.Is(err, queue.ErrPurgeInProgress) {
		t.Errorf("the second purge: %v", err)
	}
	if n, err := r.Counts(t.Context(), groups); err != nil || n.Visible != 20 {
		t.Errorf("of 20 messages: %+v, %v", n, err)
	}
}

// undoing is a shard with an undo of a purge in progress.
type undoing struct{ remote.Shard }

func (undoing) Kept(context.Context, queue.ID) (queue.Kept, error) {
	return queue.Kept{Since: 1, Undoing: true}, nil
}
func (undoing) MayPurge(context.Context, queue.ID) error { return queue.ErrPurgeInProgress }
func (undoing) PurgeAfter(context.Context, queue.ID, []queue.Mark) error {
	return queue.ErrPurgeInProgress
}

func (undoing) StartMove(context.Context, queue.ID, queue.MoveTask) error {
	return queue.ErrTaskRunning
}

// besideAnUndo runs an operation on a queue of 30 messages while an undo of a purge is in progress on one of its
// shards: it is refused, and no message is lost.
func besideAnUndo(t *testing.T, shard int, want error, do func(r *router.Router) error) {
	t.Helper()
	c := newCluster(t, 3, "a", "b")
	r := c.router("a")
	for range 30 {
		send(t, r, wide, "m")
	}
	c.stand(shard, func(s remote.Shard) remote.Shard { return undoing{s} })
	if err := do(r); !errors.Is(err, want) {
		t.Errorf("the refusal: %v", err)
	}
	if n, err := r.Counts(t.Context(), wide); err != nil || n.Visible != 30 {
		t.Errorf("of 30 messages: %+v, %v", n, err)
	}
}

// If one shard refuses an undo of a purge, because a task moves messages there, the others restore nothing.
func TestRefusedUndoPurge(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, "a", "b")
	r := c.router("a")
	for range 30 {
		send(t, r, wide, "m")
	}
	if err := r.Purge(t.Context(), wide); err != nil {
		t.Fatal(err)
	}
	last := c.shards[3].shard
	if _, err := last.Send(t.Context(), wide, outgoing("x", "y")); err != nil {
		t.Fatal(err)
	}
	task := queue.MoveTask{ID: "task", Destination: arn(narrow), Rate: 1}
	if err := last.StartMove(t.Context(), wide, task); err != nil {
		t.Fatal(err)
	}
	if _, err := r.UndoPurge(t.Context(), wide); !errors.Is(err, queue.ErrTaskRunning) {
		t.Errorf("the refusal: %v", err)
	}
	if kept, err := r.Kept(t.Context(), wide); err != nil || kept.Messages != 30 || kept.Undoing {
		t.Errorf("after a refused undo, kept are %+v, %v", kept, err)
	}
	if _, err := r.CancelMove(t.Context(), wide, "task"); err != nil {
		t.Fatal(err)
	}
	if kept, err := r.UndoPurge(t.Context(), wide); err != nil || kept.Messages != 30 {
		t.Errorf("the undo brings back %+v, %v", kept, err)
	}
}

// A move task that one shard refuses because of an undo moves nothing on the others.
func TestMoveBesideAnUndo(t *testing.T) {
	t.Parallel()
	besideAnUndo(t, 3, queue.ErrTaskRunning, func(r *router.Router) error {
		return r.StartMove(t.Context(), wide, queue.MoveTask{ID: "task", Destination: arn(narrow)})
	})
}

// While an undo of a purge is in progress on one shard, a purge of the whole queue is refused: messages of that shard
// would stay.
func TestPurgeBesideAnUndo(t *testing.T) {
	t.Parallel()
	besideAnUndo(t, 2, queue.ErrPurgeInProgress, func(r *router.Router) error {
		return r.Purge(t.Context(), wide)
	})
}

// A message that is on its way from shard to shard when its queue is purged does not arrive afterwards; what is
// sent later does.
func TestPurgeCatchesWhatIsOnItsWay(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, "a", "b")
	r := c.router("a")
	from := queue.FromShard{Shard: 1}
	// publish has shard 1 publish messages of all groups to the queue, and returns those that it has for other shards.
	sent := 0
	publish := func() []queue.Transfer {
		p := queue.Publication{}
		for range 20 {
			sent++
			p.Copies = append(p.Copies, queue.Copy{Queue: groups, Message: queue.Outgoing{
				Body: fmt.Sprint(sent), Dedup: fmt.Sprint(sent), Group: fmt.Sprint(sent % 20),
			}})
		}
		if _, err := c.shards[1].shard.Publish(t.Context(), []queue.Publication{p}); err != nil {
			t.Fatal(err)
		}
		messages, err := c.shards[1].shard.ReadOutbox(t.Context(), groups, 100, 1<<20)
		if err != nil || len(messages) == 0 {
			t.Fatal(len(messages), err)
		}
		return messages
	}
	late := publish()
	if err := r.Purge(t.Context(), groups); err != nil {
		t.Fatal(err)
	}
	if err := r.Deliver(t.Context(), groups, from, late); err != nil {
		t.Fatal(err)
	}
	if n, err := r.Counts(t.Context(), groups); err != nil || n != (queue.Counts{}) {
		t.Errorf("after the purge: %+v, %v", n, err)
	}
	if err := c.shards[1].shard.Forwarded(t.Context(), groups, late[len(late)-1].Position); err != nil {
		t.Fatal(err)
	}
	later := publish()
	if err := r.Deliver(t.Context(), groups, from, later); err != nil {
		t.Fatal(err)
	}
	if err := c.shards[1].shard.Forwarded(t.Context(), groups, later[len(later)-1].Position); err != nil {
		t.Fatal(err)
	}
	if n, err := r.Counts(t.Context(), groups); err != nil || n.Visible != 20 {
		t.Errorf("of 20 that were published later: %+v, %v", n, err)
	}
}
