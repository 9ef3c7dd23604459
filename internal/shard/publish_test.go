package shard_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// publishTo publishes a message to queues.
func publishTo(t *testing.T, r *rig, body string, to ...queue.ID) error {
	t.Helper()
	p := queue.Publication{ID: queue.MessageID([]byte(fmt.Sprintf("%16s", body)))}
	for _, id := range to {
		p.Copies = append(p.Copies, queue.Copy{
			Queue: id, Message: queue.Outgoing{ID: p.ID, Body: body, Group: "g", Dedup: body},
		})
	}
	published, err := r.Publish(t.Context(), []queue.Publication{p})
	if err == nil && (len(published) != 1 || published[0].ID != p.ID) {
		t.Errorf("the publication is %+v", published)
	}
	return err
}

// A publication is one commit, however many queues get it; if the commit fails, no queue does.
func TestPublishIsOneCommit(t *testing.T) {
	t.Parallel()
	var configs []queue.Config
	var all []queue.ID
	for i := range queue.ID(100) {
		configs = append(configs, queue.Config{ID: i + 1, ARN: arn(i + 1), Retention: time.Hour, FIFO: i%2 == 0})
		all = append(all, i+1)
	}
	r := openShard(t, configs...)
	before := r.commits.Load()
	if err := publishTo(t, r, "m", all...); err != nil {
		t.Fatal(err)
	}
	if n := r.commits.Load() - before; n != 1 {
		t.Errorf("%d commits", n)
	}
	failing := func() error { return errors.New("the disk is full") }
	r.commit.Store(&failing)
	if err := publishTo(t, r, "n", all...); !errors.Is(err, shard.ErrUnavailable) {
		t.Errorf("of a commit that fails: %v", err)
	}
	r.commit.Store(nil)
	for _, id := range all {
		var n queue.Counts
		eventually.Succeeds(t, func() (err error) { n, err = r.Counts(t.Context(), id); return err })
		if n.Visible != 1 {
			t.Errorf("queue %d has %+v", id, n)
		}
	}
}

// Ready returns the subscription queues that have messages, among many that have none.
func TestReady(t *testing.T) {
	t.Parallel()
	configs := []queue.Config{{ID: jobs, ARN: arn(jobs), Retention: time.Hour, Visibility: time.Hour}}
	for i := range queue.ID(1000) {
		configs = append(configs, queue.Config{
			ID: i + 100, ARN: arn(i + 100), Retention: time.Hour, Visibility: time.Hour, Internal: true,
		})
	}
	r := openShard(t, configs...)
	ready := func(want ...queue.ID) {
		t.Helper()
		got, err := r.Ready(t.Context())
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("ready: %v, %v, want %v", got, err, want)
		}
	}
	nothing := func() {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if got, err := r.Ready(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("ready: %v, %v", got, err)
		}
	}
	nothing()
	waiting := later(func() error { ready(500); return nil })
	if err := publishTo(t, r, "m", jobs, 500); err != nil {
		t.Fatal(err)
	}
	<-waiting
	nothing()
	if err := publishTo(t, r, "n", 500); err != nil {
		t.Fatal(err)
	}
	nothing() // the queue has been returned, and not emptied
	got, err := r.Receive(t.Context(), 500, queue.Receive{Max: 10}, 0)
	if err != nil || len(got) != 2 {
		t.Fatalf("received %v, %v", got, err)
	}
	nothing()
	now := []queue.Visibility{{Receipt: queue.Receipt{Position: got[0].Position, Number: got[0].Receipt}}}
	if _, err := r.ChangeVisibility(t.Context(), 500, now); err != nil {
		t.Fatal(err)
	}
	ready(500)
	r.Close()
	if _, err := r.Ready(t.Context()); !errors.Is(err, shard.ErrUnavailable) {
		t.Errorf("of a closed shard: %v", err)
	}
}

// Publishers wait while too many copies of earlier publications are pending, and none of their publications is lost.
func TestPublishersWait(t *testing.T) {
	t.Parallel()
	const queues, publishers, each = 20, 8, 4 // of 5 MiB of copies each
	var configs []queue.Config
	p := queue.Publication{}
	for i := range queue.ID(queues) {
		configs = append(configs, queue.Config{ID: i + 1, ARN: arn(i + 1), Retention: time.Hour})
		p.Copies = append(p.Copies, queue.Copy{
			Queue: i + 1, Message: queue.Outgoing{Body: strings.Repeat("x", 256<<10)},
		})
	}
	r := openShard(t, configs...)
	var all []<-chan error
	for range publishers {
		all = append(all, later(func() error {
			for range each {
				if _, err := r.Publish(context.Background(), []queue.Publication{p}); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	for _, done := range all {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	for _, c := range configs {
		if n, err := r.Counts(t.Context(), c.ID); err != nil || n.Visible != publishers*each {
			t.Errorf("queue %d: %+v, %v", c.ID, n, err)
		}
	}
}

// The publishers of an account that wait for room take turns with those of other accounts.
func TestPublishersOfAccountsTakeTurns(t *testing.T) {
	t.Parallel()
	const queues, publishers, each, modest = 20, 14, 2, 2 // of 5 MiB of copies each
	var configs []queue.Config
	var copies []queue.Copy
	for i := range queue.ID(queues) {
		configs = append(configs, queue.Config{ID: i + 1, ARN: arn(i + 1), Retention: time.Hour})
		copies = append(copies, queue.Copy{Queue: i + 1, Message: queue.Outgoing{Body: strings.Repeat("x", 256<<10)}})
	}
	r := openShard(t, configs...)
	publish := func(account string) error {
		_, err := r.Publish(context.Background(), []queue.Publication{{
			Copies: copies, Count: &queue.TopicCount{Topic: "arn:aws:sns:us-east-1:" + account + ":news"},
		}})
		return err
	}
	var accepted atomic.Int32
	full := make(chan struct{})
	var all []<-chan error
	for range publishers {
		all = append(all, later(func() error {
			for range each {
				if err := publish("111111111111"); err != nil {
					return err
				}
				if accepted.Add(1) == publishers {
					close(full)
				}
			}
			return nil
		}))
	}
	<-full
	before := accepted.Load()
	for range modest {
		if err := publish("222222222222"); err != nil {
			t.Fatal(err)
		}
	}
	if n := accepted.Load() - before; n > 4*modest {
		t.Errorf("%d publications of the other account were accepted before %d of this one", n, modest)
	}
	for _, done := range all {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
