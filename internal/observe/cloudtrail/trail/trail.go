package trail

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/store"
)

// Options configures a trail.
type Options struct {
	Control *control.Control
	Now     func() time.Time // nil means time.Now
	Log     *slog.Logger     // nil means that nothing is logged
}

// Trail is the record of calls. Its methods are safe for concurrent use.
type Trail struct {
	control *control.Control
	now     func() time.Time
	log     *slog.Logger

	pending *pending

	undelivered atomic.Uint64 // entries of outboxes that were removed because they were too many

	selector atomic.Pointer[Selector] // nil: no outbox receives events
	data     atomic.Pointer[DataSink] // nil: no data events are recorded

	listing atomic.Bool  // this node owns the control store, and the lists of accounts have all events
	marked  atomic.Int64 // when the mark moved last, in ms

	trimmed time.Time // when old events were removed last
}

// Entry is the stored form of an event. Nodes send entries to each other.
type Entry struct {
	Key   string
	Value []byte
	// Caller is the account that has made the call, on whose share the event counts while it waits. It is empty if
	// there is none, or if an older node has sent the event.
	Caller string
}

func (e Entry) size() int { return len(e.Key) + len(e.Value) }

// New returns the trail in a control store.
func New(o Options) *Trail {
	t := &Trail{control: o.Control, now: o.Now, log: o.Log}
	if t.now == nil {
		t.now = time.Now
	}
	if t.log == nil {
		t.log = slog.New(slog.DiscardHandler)
	}
	t.pending = newPending(t.log)
	return t
}

// Dropped returns how many events were dropped since the start because too many were waiting.
func (t *Trail) Dropped() uint64 { return t.pending.droppedSoFar() }

// Undelivered returns how many events were removed from outboxes since the start because the outboxes were too long.
func (t *Trail) Undelivered() uint64 { return t.undelivered.Load() }

// Append writes events within a second, as far as there is room for them.
func (t *Trail) Append(entries []Entry) { t.pending.add(entries, t.now()) }

// Run writes the events passed to Append, every second, and once more when ctx has ended, and removes old events. If
// another node owns the control store, send passes the events to Append there.
func (t *Trail) Run(ctx context.Context, send func(context.Context, []Entry) error) {
	again := time.NewTicker(time.Second)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			t.Write(context.WithoutCancel(ctx), send)
			return
		case <-again.C:
			t.Write(ctx, send)
			if err := t.Trim(); err != nil {
				t.log.Warn("old events of calls are not removed", "error", err)
			}
		}
	}
}

// Write writes or sends the waiting events. Those that cannot be written now stay.
func (t *Trail) Write(ctx context.Context, send func(context.Context, []Entry) error) {
	for {
		batch := t.pending.first()
		if len(batch) == 0 || t.write(ctx, batch, send) != nil {
			return
		}
		t.pending.written(len(batch))
	}
}

func (t *Trail) write(ctx context.Context, batch []Entry, send func(context.Context, []Entry) error) error {
	err := t.control.Change(ctx, func(tx *control.Tx) error {
		for _, e := range batch {
			if err := t.put(tx, e, t.now()); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, control.ErrElsewhere) && send != nil {
		return send(ctx, batch)
	}
	return err
}

// scan calls f with the stored events of a class from a key on, the newest first, until f returns false.
func (t *Trail) scan(c class, from string, f func(key string, value []byte) bool) error {
	return t.store().Scan([]byte(from), []byte(end(c)), func(k, v []byte) bool { return f(string(k), v) })
}

func (t *Trail) store() *store.Store { return t.control.Store() }
