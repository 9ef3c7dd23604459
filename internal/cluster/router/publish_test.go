package router_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/remote"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// publication is a message of a topic, with a copy for each queue.
func publication(body string, to ...queue.ID) queue.Publication {
	p := queue.Publication{ID: queue.MessageID([]byte(fmt.Sprintf("%16s", body)))}
	for _, id := range to {
		p.Copies = append(p.Copies, queue.Copy{
			Queue: id, Message: queue.Outgoing{ID: p.ID, Body: body, Group: body, Dedup: body},
		})
	}
	return p
}

// Every queue gets a copy of each publication, on every shard and from every node.
func TestPublish(t *testing.T) {
	c := newCluster(t, 4, "a", "b")
	var want []string
	for i, node := range []string{"a", "b"} {
		r := c.router(node)
		for n := range 10 {
			batch := []queue.Publication{
				publication(fmt.Sprint(i, "-", n), single, wide, groups, letter, absent),
				publication(fmt.Sprint(i, "+", n), letter, groups, wide, single),
			}
			published, err := r.Publish(t.Context(), batch)
			if err != nil {
				t.Fatal(err)
			}
			for k, p := range published {
				if p != (queue.Published{ID: batch[k].ID}) {
					t.Errorf("published as %+v", p)
				}
			}
			want = append(want, fmt.Sprint(i, "-", n), fmt.Sprint(i, "+", n))
		}
	}
	slices.Sort(want)
	r := c.router("a")
	c.forward(r)
	for _, id := range []queue.ID{single, wide, groups, letter} {
		equal(t, fmt.Sprint("received from ", id), drain(t, r, id), want)
	}
	nothing, err := r.Publish(t.Context(), []queue.Publication{publication("x", absent), publication("y")})
	if err != nil || len(nothing) != 2 || nothing[1].ID != publication("y").ID {
		t.Errorf("without subscription: %+v, %v", nothing, err)
	}
	counted := publication("z")
	counted.Count = &queue.TopicCount{Topic: "topic", Counts: [queue.TopicMetrics]uint64{queue.TopicPublished: 1}}
	if published, err := r.Publish(t.Context(), []queue.Publication{counted}); err != nil || len(published) != 1 ||
		published[0].ID != counted.ID {
		t.Errorf("without subscription, and counted: %+v, %v", published, err)
	}
	happened := int64(0)
	for _, o := range c.shards {
		n, err := queue.Happened(o.store, nil)
		if err != nil {
			t.Fatal(err)
		}
		happened += n["topic"][queue.TopicPublished]
	}
	if happened != 1 {
		t.Errorf("counted %d times", happened)
	}
}

// Publications to a standard topic are committed on a shard with an owner, and reach the other queues when their shards
// have one.
func TestPublishWithoutAnOwner(t *testing.T) {
	c := newCluster(t, 3, "a", "b")
	r := c.router("a")
	for id, p := range c.places {
		p.All = []int{1, 2, 3}
		c.places[id] = p
	}
	c.take(2)
	if _, err := r.Publish(t.Context(), []queue.Publication{publication("m", single)}); err != nil {
		t.Fatal(err)
	}
	c.give(2, "b")
	c.forward(r)
	equal(t, "received", drain(t, r, single), []string{"m"})

	// If possible, the shard that serves the queue gets the publication.
	before := []int{}
	for n := range c.shards {
		c.stand(n, func(s remote.Shard) remote.Shard { return publishes{s, func() { before = append(before, n) }} })
	}
	if _, err := r.Publish(t.Context(), []queue.Publication{publication("m", single)}); err != nil {
		t.Fatal(err)
	}
	equal(t, "asked", before, []int{2})
}

// publishes records that it was called to publish.
type publishes struct {
	remote.Shard
	asked func()
}

func (p publishes) Publish(ctx context.Context, all []queue.Publication) ([]queue.Published, error) {
	p.asked()
	return p.Shard.Publish(ctx, all)
}

// A FIFO topic keeps the order of its groups in all its queues, and publishes nothing twice.
func TestPublishInOrder(t *testing.T) {
	c := newCluster(t, 4, "a", "b")
	r := c.router("b")
	c.forward(r)
	all := mixed(10, 6)
	var batches [][]queue.Publication
	for batch := range slices.Chunk(all, 10) {
		var publications []queue.Publication
		for _, m := range batch {
			p := queue.Publication{Topic: topic, ID: m.ID, Group: m.Group, Dedup: m.Dedup}
			for _, id := range []queue.ID{groups, letter, wide} {
				p.Copies = append(p.Copies, queue.Copy{Queue: id, Message: m})
			}
			publications = append(publications, p)
		}
		batches = append(batches, publications)
	}
	var first []queue.Published
	for range 2 { // the second time they are duplicates
		var published []queue.Published
		for _, batch := range batches {
			got, err := r.Publish(t.Context(), batch)
			if err != nil {
				t.Fatal(err)
			}
			published = append(published, got...)
		}
		for i, p := range published {
			switch {
			case first == nil && (p.Duplicate || i > 0 && p.Sequence <= published[i-1].Sequence):
				t.Errorf("publication %d: %+v after %+v", i, p, published[i-1])
			case first != nil && p != (queue.Published{ID: first[i].ID, Sequence: first[i].Sequence, Duplicate: true}):
				t.Errorf("publication %d again: %+v, was %+v", i, p, first[i])
			}
		}
		first = published
	}
	inOrder(t, r, groups, make(map[string]int), len(all))
	inOrder(t, r, letter, make(map[string]int), len(all))
	if got := len(drain(t, r, wide)); got != len(all) {
		t.Errorf("%d messages in the standard queue", got)
	}
	if _, err := r.Publish(t.Context(), []queue.Publication{{Topic: absent, Group: "g", Dedup: "d"}}); !errors.Is(err,
		queue.ErrNoQueue) {
		t.Errorf("to a deleted topic: %v", err)
	}
}

// A publication whose outcome is not known is not repeated on another shard.
func TestUnknownOutcomeOfAPublication(t *testing.T) {
	c := newCluster(t, 3, "a", "b")
	r := c.router("a")
	asked := 0
	for n := range c.shards {
		c.stand(n, func(s remote.Shard) remote.Shard { return publishesInSilence{s, &asked} })
	}
	_, err := r.Publish(t.Context(), []queue.Publication{publication("m", wide)})
	if !errors.Is(err, shard.ErrUnavailable) || errors.Is(err, shard.ErrNotBegun) || asked != 1 {
		t.Errorf("%v, %d shards were asked", err, asked)
	}
	c.settle(r, wide)
	for n := range c.shards {
		c.stand(n, nil)
	}
	equal(t, "received", drain(t, r, wide), []string{"m"})
}

// publishesInSilence publishes, and answers that the outcome is unknown.
type publishesInSilence struct {
	remote.Shard
	asked *int
}

func (p publishesInSilence) Publish(ctx context.Context, all []queue.Publication) ([]queue.Published, error) {
	*p.asked++
	_, _ = p.Shard.Publish(ctx, all)
	return nil, fmt.Errorf("%w: %v", shard.ErrUnavailable, time.Now())
}
