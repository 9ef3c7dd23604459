package queue

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
)

// shelfRig is a rig with a FIFO queue that can be shelved and restored.
type shelfRig struct {
	*rig
	t   *testing.T
	cfg Config
}

func newShelfRig(t *testing.T) *shelfRig {
	t.Helper()
	r := &shelfRig{rig: newRig(t), t: t, cfg: Config{
		ID: 1, ARN: "arn:aws:sqs:us-east-1:000000000000:q.fifo", FIFO: true, Visibility: time.Minute,
		Retention: time.Hour,
	}}
	t.Cleanup(r.close)
	r.configure(r.cfg)
	return r
}

func (r *shelfRig) shelve() {
	r.t.Helper()
	gone := r.cfg
	gone.Shelved = true
	r.configure(gone)
}

func (r *shelfRig) send(body string) (s Sent) {
	r.t.Helper()
	err := r.do(func(e *Engine) error {
		sent, err := e.Send(r.cfg.ID, []Outgoing{{Body: body, Group: "g", Dedup: body}})
		if err == nil {
			s = sent[0]
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

func (r *shelfRig) receive() (given []Delivery) {
	r.t.Helper()
	err := r.do(func(e *Engine) (err error) {
		given, err = e.Receive(r.cfg.ID, Receive{Max: 10})
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return given
}

func (r *shelfRig) delete(d Delivery) error {
	return r.do(func(e *Engine) error {
		results, err := e.Delete(r.cfg.ID, []Receipt{{d.Position, d.Receipt}})
		if err == nil {
			err = results[0]
		}
		return err
	})
}

// A shelved queue does not exist for any call. It comes back with its order, receive counts, receipts and
// deduplication. Meanwhile time passes: a visibility timeout ends, and messages expire.
func TestShelf(t *testing.T) {
	t.Parallel()
	for _, reload := range []bool{false, true} {
		t.Run(fmt.Sprint("reload ", reload), func(t *testing.T) {
			t.Parallel()
			r := newShelfRig(t)
			r.send("a")
			first := r.receive()
			r.send("b")
			r.shelve()
			if reload {
				r.reload()
			}
			if err := r.delete(first[0]); !errors.Is(err, ErrNoQueue) {
				t.Errorf("a receipt of a shelved queue gave %v", err)
			}
			if _, err := r.engine.Counts(1); !errors.Is(err, ErrNoQueue) || !r.engine.Available(1) ||
				len(r.engine.Unknown()) > 0 {
				t.Errorf("the counts gave %v, unknown are %v", err, r.engine.Unknown())
			}
			r.jump(2 * time.Minute)
			r.configure(r.cfg)
			if s := r.send("b"); !s.Duplicate {
				t.Error("the queue has forgotten what it has accepted")
			}
			given := r.receive()
			if len(given) != 2 || given[0].Position != first[0].Position || given[0].Receives != 2 ||
				given[1].Receives != 1 {
				t.Fatalf("received %+v, first %+v", given, first)
			}
			if err := r.delete(given[0]); err != nil {
				t.Error(err)
			}
			r.shelve()
			r.jump(time.Hour)
			r.configure(r.cfg)
			if got := r.receive(); len(got) != 0 {
				t.Errorf("received %+v, which is too old", got)
			}
		})
	}
}

// Dropping a shelved queue removes all its data, including the ids that a later queue must not find.
func TestDropFromTheShelf(t *testing.T) {
	t.Parallel()
	r := newShelfRig(t)
	r.send("a")
	r.receive()
	r.shelve()
	r.drop(1)
	for k := range r.keys {
		if id, _ := queueOf([]byte(k)); id == 1 || id == shared && k[8] == tableDedup {
			t.Errorf("key %q is left", k)
		}
	}
	r.reload()
	if len(r.engine.shelf) > 0 || len(r.engine.Unknown()) > 0 {
		t.Errorf("on the shelf: %v", r.engine.shelf)
	}
}

// Messages in the outbox for a queue that another shard serves come back with the queue.
func TestShelvedOutbox(t *testing.T) {
	t.Parallel()
	r := newShelfRig(t)
	elsewhere := Config{ID: 2, ARN: "arn:aws:sqs:us-east-1:000000000000:other.fifo", FIFO: true, Elsewhere: true}
	r.configure(elsewhere)
	publish := func() {
		t.Helper()
		err := r.do(func(e *Engine) error {
			_, err := e.Publish([]Publication{{Copies: []Copy{{Queue: 2,
				Message: Outgoing{Body: "m", Group: "g", Dedup: "d"}}}}})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	publish()
	gone := elsewhere
	gone.Shelved = true
	r.configure(gone)
	publish() // is dropped
	if err := r.do(func(e *Engine) error { return e.Forwarded(2, 1) }); !errors.Is(err, ErrNoQueue) {
		t.Errorf("the outbox of a shelved queue gave %v", err)
	}
	r.engine.OutboxReady()
	r.configure(elsewhere)
	if _, n, err := r.engine.Outbox(2); n != 1 || err != nil || !slices.Contains(r.engine.OutboxReady(), 2) {
		t.Errorf("%d messages wait, %v", n, err)
	}
}

// Messages of a shelved queue count as stored by its account, including those that a purge has kept.
func TestShelfCountsAsStored(t *testing.T) {
	t.Parallel()
	r := newShelfRig(t)
	r.rig.kept = true
	r.reload()
	stored := func() (n uint64, bytes uint64) {
		t.Helper()
		for _, s := range r.engine.Stored(func(account string) bool { return account == "000000000000" }) {
			w, _, err := s.Look.Weigh(r.store, 0, func(int) bool { return true })
			if err != nil {
				t.Fatal(err)
			}
			n, bytes = n+s.Messages, bytes+w.Bytes
		}
		return n, bytes
	}
	r.send("a")
	r.send("b")
	_, size := stored()
	if err := r.do(func(e *Engine) error { _, err := e.Purge(Purging{Queue: 1}); return err }); err != nil {
		t.Fatal(err)
	}
	if n, bytes := stored(); n != 0 || bytes != 0 {
		t.Errorf("%d messages with %d bytes are stored after a purge", n, bytes)
	}
	r.shelve()
	for range 2 {
		if n, bytes := stored(); n != 2 || bytes != size {
			t.Errorf("%d messages with %d bytes are stored, not 2 with %d", n, bytes, size)
		}
		r.reload()
	}
}

// The last minute of a queue is counted once, even if no engine served the queue when it was shelved.
func TestShelvedMinute(t *testing.T) {
	t.Parallel()
	r := newShelfRig(t)
	r.keep = DefaultKeep
	r.reload()
	r.send("a")
	sent := func() (n uint64) {
		t.Helper()
		rows, err := Series(r.keys.sorted().Get, r.cfg.ARN, 0, minuteOf(r.now)+hour)
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			n += rows[i].Values[MetricSent].Sum
		}
		return n
	}
	r.configs[0].Shelved = true
	r.reload()
	if n := sent(); n != 1 {
		t.Errorf("%d messages were counted", n)
	}
	r.reload()
	r.configure(r.cfg)
	r.send("b")
	if given := r.receive(); len(given) != 2 {
		t.Errorf("received %+v", given)
	}
	r.jump(2 * time.Minute)
	if n := sent(); n != 2 {
		t.Errorf("%d messages were counted after the undo", n)
	}
}
