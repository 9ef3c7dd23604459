package trail

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/store"
)

// MaxPending is the maximum number of events that wait to be written.
const MaxPending = 10_000

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

	mu      sync.Mutex
	pending []Entry
	dropped uint64 // that came while MaxPending were waiting

	undelivered atomic.Uint64 // entries of outboxes that were removed because they were too many

	selector atomic.Pointer[Selector] // nil: no outbox receives events
	data     atomic.Pointer[DataSink] // nil: no data events are recorded

	trimmed time.Time // when old events were removed last
}

// Entry is the stored form of an event.
type Entry struct {
	Key   string
	Value []byte
}

// New returns the trail in a control store.
func New(o Options) *Trail {
	t := &Trail{control: o.Control, now: o.Now, log: o.Log}
	if t.now == nil {
		t.now = time.Now
	}
	if t.log == nil {
		t.log = slog.New(slog.DiscardHandler)
	}
	return t
}

// Dropped returns how many events were dropped since the start because too many were waiting.
func (t *Trail) Dropped() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.dropped
}

// Undelivered returns how many events were removed from outboxes since the start because the outboxes were too long.
func (t *Trail) Undelivered() uint64 { return t.undelivered.Load() }

// Append writes events within a second, as far as there is room for them.
func (t *Trail) Append(entries []Entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	room := min(len(entries), MaxPending-len(t.pending))
	t.pending = append(t.pending, entries[:room]...)
	if lost := len(entries) - room; lost > 0 {
		if t.dropped == 0 {
			t.log.Warn("events of calls are dropped: more come than can be written", "waiting", len(t.pending))
		}
		t.dropped += uint64(lost)
	}
}

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

// mostAtOnce is how many events one commit, or one message to another node, has.
const mostAtOnce = 256

// Write writes or sends the waiting events. Those that cannot be written now stay.
func (t *Trail) Write(ctx context.Context, send func(context.Context, []Entry) error) {
	for {
		t.mu.Lock()
		n := min(mostAtOnce, len(t.pending))
		batch := t.pending[:n:n]
		t.mu.Unlock()
		if n == 0 || t.write(ctx, batch, send) != nil {
			return
		}
		t.mu.Lock()
		if t.pending = t.pending[n:]; len(t.pending) == 0 {
			t.pending = nil
		}
		t.mu.Unlock()
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
