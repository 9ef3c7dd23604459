package queue

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// copiesRig is a rig with a queue that gets copies of publications, one in each transaction.
type copiesRig struct {
	*rig
	t   *testing.T
	cfg Config
}

func newCopiesRig(t *testing.T, cfg Config) *copiesRig {
	t.Helper()
	r := &copiesRig{rig: newRig(t), t: t, cfg: cfg}
	t.Cleanup(r.close)
	r.rig.copies = extent{copies: 1, bytes: 1 << 20}
	r.configure(cfg)
	r.load()
	return r
}

func (r *copiesRig) must(f func(*Engine) error) {
	r.t.Helper()
	if err := r.transact(f); err != nil {
		r.t.Fatal(err)
	}
}

// publish publishes a message for each of the bodies, in one publication.
func (r *copiesRig) publish(bodies ...string) {
	r.t.Helper()
	p := Publication{}
	for _, body := range bodies {
		p.Copies = append(p.Copies, Copy{
			Queue: r.cfg.ID, Message: Outgoing{Body: body, Group: "g", Dedup: body},
		})
	}
	r.must(func(e *Engine) error { _, err := e.Publish([]Publication{p}); return err })
}

// forward delivers what waits in the outbox of the queue to this shard or to no one, and returns the bodies.
func (r *copiesRig) forward(here bool) (bodies []string) {
	r.t.Helper()
	from, _, err := r.engine.Outbox(r.cfg.ID)
	if err != nil {
		return nil
	}
	messages, err := ReadOutbox(r.store, r.cfg.ID, from, 100, 1<<20)
	if len(messages) == 0 {
		return nil
	}
	for _, m := range messages {
		bodies = append(bodies, m.Message.Body)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	if here {
		r.must(func(e *Engine) error { return e.Accept(r.cfg.ID, FromShard{1}, messages) })
	}
	r.must(func(e *Engine) error { return e.Forwarded(r.cfg.ID, messages[len(messages)-1].Position) })
	return bodies
}

// bodies returns the bodies of the stored messages, in order of position.
func (r *copiesRig) bodies() (out []string) {
	r.t.Helper()
	stored := r.stored(r.cfg.ID)
	for _, p := range sortedPositions(stored) {
		out = append(out, stored[p].Body)
	}
	return out
}

// A copy that waits to be made when its queue is deleted comes back with the queue. Its publisher was answered.
func TestCopiesOfAShelvedQueueComeBack(t *testing.T) {
	t.Parallel()
	for _, elsewhere := range []bool{false, true} {
		for _, reload := range []bool{false, true} {
			t.Run(fmt.Sprint("elsewhere ", elsewhere, " reload ", reload), func(t *testing.T) {
				t.Parallel()
				cfg := Config{ID: 1, ARN: "q", Retention: time.Hour, Elsewhere: elsewhere}
				r := newCopiesRig(t, cfg)
				want := []string{"a", "b", "c", "d"}
				r.publish(want...)
				r.must((*Engine).Advance)
				cfg.Shelved = true
				r.configure(cfg)
				if reload {
					r.reload()
				}
				cfg.Shelved = false
				r.configure(cfg)
				got := append(r.forward(!elsewhere), r.forward(!elsewhere)...)
				if !elsewhere {
					got = r.bodies()
				}
				if !slices.Equal(got, want) {
					t.Errorf("the queue has %q of %q", got, want)
				}
			})
		}
	}
}

// Copies that wait in the outbox of a FIFO queue, because the queue was unknown or deleted when they were made, are not
// overtaken by later ones.
func TestWaitingCopiesAreNotOvertaken(t *testing.T) {
	t.Parallel()
	for _, shelved := range []bool{false, true} {
		t.Run(fmt.Sprint("shelved ", shelved), func(t *testing.T) {
			t.Parallel()
			cfg := Config{ID: 1, ARN: "q.fifo", FIFO: true, Retention: time.Hour, Visibility: time.Minute}
			r := newCopiesRig(t, cfg)
			r.publish("a", "b", "c")
			if gone := cfg; shelved {
				gone.Shelved = true
				r.configure(gone)
			} else {
				r.hide(1)
				r.reload()
			}
			r.configure(cfg)
			r.publish("d")
			for r.forward(true) != nil {
			}
			r.publish("e")
			if got, want := r.bodies(), []string{"a", "b", "c", "d", "e"}; !slices.Equal(got, want) {
				t.Errorf("the queue has %q, want %q", got, want)
			}
		})
	}
}
