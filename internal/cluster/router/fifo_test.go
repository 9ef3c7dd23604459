package router_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/remote"
	"github.com/sluicemq/sluice/internal/cluster/router"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

func member(group, dedup string) queue.Outgoing {
	return queue.Outgoing{
		ID: queue.MessageID([]byte(fmt.Sprintf("%16s", group+dedup))), Body: group + dedup, Group: group, Dedup: dedup,
	}
}

// mixed returns messages of several groups, in turns.
func mixed(groups, each int) (out []queue.Outgoing) {
	for i := range each {
		for g := range groups {
			out = append(out, member(fmt.Sprintf("g%d-", g), fmt.Sprint(i)))
		}
	}
	return out
}

func TestGroupsKeepTheirOrder(t *testing.T) {
	c := newCluster(t, 4, "a", "b")
	r := c.router("a")
	all := mixed(10, 6)
	for batch := range slices.Chunk(all, 10) {
		sent, err := r.Send(t.Context(), groups, batch)
		if err != nil {
			t.Fatal(err)
		}
		for i := range sent {
			if sent[i].ID != batch[i].ID || sent[i].Sequence == 0 {
				t.Fatalf("sent %+v as %+v", batch[i], sent[i])
			}
		}
	}
	if n := len(c.where(groups)); n < 2 {
		t.Errorf("all groups are on %d shards", n)
	}
	next := make(map[string]int)
	for n := 0; n < len(all); {
		got, err := r.Receive(t.Context(), groups, queue.Receive{Max: 3}, testTimeout)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			m := &got[i]
			if want := fmt.Sprint(next[m.Group]); m.Dedup != want {
				t.Fatalf("group %s: got %s, want %s", m.Group, m.Dedup, want)
			}
			next[m.Group]++
			n++
			if results, err := r.Delete(t.Context(), groups, []queue.Receipt{receipt(m)}); err != nil ||
				results[0] != nil {
				t.Fatal(results, err)
			}
		}
	}
}

// A batch that was refused in part is sent again, and counts once.
func TestBatchIsSentAgain(t *testing.T) {
	c := newCluster(t, 3, "a", "b")
	r := c.router("a")
	batch := mixed(10, 1)
	c.take(3)
	if _, err := r.Send(t.Context(), groups, batch); !errors.Is(err, shard.ErrNotBegun) {
		t.Errorf("with a shard missing: %v", err)
	}
	c.give(3, "b")
	sent, err := r.Send(t.Context(), groups, batch)
	if err != nil {
		t.Fatal(err)
	}
	for i := range sent {
		if sent[i].ID != batch[i].ID {
			t.Errorf("%s was sent as %v", batch[i].Body, sent[i].ID)
		}
	}
	if counts, err := r.Counts(t.Context(), groups); err != nil || counts.Visible != 10 {
		t.Errorf("%+v, %v", counts, err)
	}
}

// A repeated receive attempt gets the same messages, from any shard, even if more messages have arrived at others
// meanwhile.
func TestRepeatedAttempt(t *testing.T) {
	c := newCluster(t, 4, "a", "b")
	for i := range 20 {
		r := c.router(c.nodes[i%2])
		attempt := fmt.Sprintf("attempt-%d", i)
		if _, err := r.Send(t.Context(), groups,
			[]queue.Outgoing{member(fmt.Sprintf("first%d-", i), "0")}); err != nil {
			t.Fatal(err)
		}
		wait := time.Duration(i%2) * testTimeout
		first, err := r.Receive(t.Context(), groups, queue.Receive{Max: 10, Attempt: attempt}, wait)
		if err != nil || len(first) != 1 {
			t.Fatalf("%v, %v", first, err)
		}
		if _, err := r.Send(t.Context(), groups, mixed(10, 1)); err != nil {
			t.Fatal(err)
		}
		again, err := r.Receive(t.Context(), groups, queue.Receive{Max: 10, Attempt: attempt}, wait)
		if err != nil || len(again) != 1 || receipt(&again[0]) != receipt(&first[0]) {
			t.Fatalf("again: %+v, %v", again, err)
		}
		if _, err := r.Delete(t.Context(), groups, []queue.Receipt{receipt(&first[0])}); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Receive(t.Context(), groups, queue.Receive{Max: 10, Attempt: attempt}, wait); !errors.Is(err,
			queue.ErrAttemptStale) {
			t.Fatalf("when its message is gone: %v", err)
		}
		drain(t, r, groups)
	}
}

// Dead letters of a spread queue keep the order of their groups in a dead-letter queue that is spread differently, and
// on the way back.
func TestDeadLettersAndBack(t *testing.T) {
	c := newCluster(t, 4, "a", "b")
	c.config = func(cfg *queue.Config) {
		if cfg.ID == groups {
			cfg.Redrive = &queue.Redrive{Target: arn(letter), MaxReceives: 1}
		}
	}
	for n := range c.shards {
		c.take(n)
		c.give(n, c.nodes[n%2])
	}
	r := c.router("a")
	c.forward(r)

	all := mixed(10, 3)
	for batch := range slices.Chunk(all, 10) {
		if _, err := r.Send(t.Context(), groups, batch); err != nil {
			t.Fatal(err)
		}
	}
	// All become dead letters. A message that a shard delivers after another shard has answered the poll also counts as
	// received: with a visibility timeout of zero, its return comes too late. So the delivered messages cannot be
	// counted.
	now := time.Duration(0)
	eventually.True(t, "the queue is empty", func() bool {
		_, err := r.Receive(t.Context(), groups, queue.Receive{Max: 10, Timeout: &now}, 20*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		counts, err := r.Counts(t.Context(), groups)
		return err == nil && counts == (queue.Counts{})
	})
	inOrder(t, r, groups, nil, 0)
	home := make(map[string]int)
	inOrder(t, r, letter, home, len(all))

	for batch := range slices.Chunk(all, 10) {
		for i := range batch {
			batch[i].Dedup += "again"
		}
		if _, err := r.Send(t.Context(), letter, batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.StartMove(t.Context(), letter, queue.MoveTask{ID: "t", Destination: arn(groups)}); err != nil {
		t.Fatal(err)
	}
	inOrder(t, r, groups, make(map[string]int), len(all))
}

// inOrder receives and deletes n messages, and checks that those of a group are in order and on one shard; 0 checks
// that there are none.
func inOrder(t *testing.T, r *router.Router, id queue.ID, home map[string]int, n int) {
	t.Helper()
	next := make(map[string]int)
	for seen := 0; ; {
		got, err := r.Receive(t.Context(), id, queue.Receive{Max: 10},
			time.Duration(min(n-seen, 1))*testTimeout+20*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) == 0 {
			if seen != n {
				t.Fatalf("%d of %d messages of queue %d", seen, n, id)
			}
			return
		}
		for i := range got {
			m := &got[i]
			if want := fmt.Sprintf("%s%d", m.Group, next[m.Group]); m.Body != want {
				t.Fatalf("got %s instead of %s", m.Body, want)
			}
			next[m.Group]++
			seen++
			on := int(m.Position>>51&4095) + 1
			if was, known := home[m.Group]; known && was != on {
				t.Fatalf("group %s is on shards %d and %d", m.Group, was, on)
			}
			if home != nil {
				home[m.Group] = on
			}
			if _, err := r.Delete(t.Context(), id, []queue.Receipt{receipt(m)}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Forwarded messages from another shard go to their groups, and count once if they arrive twice.
func TestDeliver(t *testing.T) {
	c := newCluster(t, 3, "a", "b")
	r := c.router("a")
	var arriving []queue.Transfer
	for i, m := range mixed(10, 2) {
		arriving = append(arriving, queue.Transfer{Position: queue.Position(i + 1), Message: queue.Message{
			ID: m.ID, Body: m.Body, Group: m.Group, Dedup: m.Dedup, SentAt: queue.At(time.Now()), Source: "arn",
		}})
	}
	failing := errors.New("not now")
	c.stand(2, func(s remote.Shard) remote.Shard { return refusingShard{s, failing} })
	for _, id := range []queue.ID{groups, wide} {
		err := r.Deliver(t.Context(), id, queue.FromShard{Shard: 9}, arriving)
		if id == groups && err == nil {
			t.Error("delivered to a shard that accepts nothing")
		}
	}
	c.stand(2, nil)
	for _, id := range []queue.ID{groups, wide} {
		if err := r.Deliver(t.Context(), id, queue.FromShard{Shard: 9}, arriving); err != nil {
			t.Fatal(err)
		}
	}
	equal(t, "delivered to a standard queue", c.where(wide), map[int]int{1: 20})
	// They are with the messages that were sent to their groups.
	before := c.where(groups)
	if _, err := r.Send(t.Context(), groups, mixed(10, 1)); err != nil {
		t.Fatal(err)
	}
	for n, count := range c.where(groups) {
		if count*2 != before[n]*3 {
			t.Errorf("shard %d had %d messages and has %d", n, before[n], count)
		}
	}
}

type refusingShard struct {
	remote.Shard
	err error
}

func (d refusingShard) Accept(context.Context, queue.ID, queue.FromShard, []queue.Transfer) error {
	return d.err
}
