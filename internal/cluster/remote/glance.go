package remote

import (
	"context"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// sizeGlance is the minimum size of a Glance in a message.
const sizeGlance = sizeState + 7

var glances = method[[]queue.ID, []shard.Glance]{
	code:    23,
	putArgs: func(w *writer, ids *[]queue.ID) { putAll(w, *ids, putID) },
	getArgs: func(r *reader) []queue.ID { return getAll(r, sizeID, getID) },
	call: func(s Shard, ctx context.Context, _ queue.ID, ids []queue.ID) ([]shard.Glance, error) {
		return s.Glances(ctx, ids)
	},
	putResult: func(w *writer, list []shard.Glance) { putAll(w, list, putGlance) },
	getResult: func(r *reader) []shard.Glance { return getAll(r, sizeGlance, getGlance) },
}

// Glances returns the summaries of some queues.
func (c *Client) Glances(ctx context.Context, ids []queue.ID) ([]shard.Glance, error) {
	return invoke(ctx, c, &glances, 0, ids)
}

// putGlance omits whether a shard was unavailable: this one has answered.
func putGlance(w *writer, g *shard.Glance) {
	putID(w, &g.ID)
	putState(w, &shard.State{State: g.State, Waiters: g.Waiters})
	w.Bool(g.Served)
	w.Uint(g.Arriving)
	putCounters(w, g.Happened[:], func(n int64) { w.Int(n) })
	w.Bool(g.Counted)
	putCounters(w, g.LastMinute[:], w.Uint)
}

func getGlance(r *reader, g *shard.Glance) {
	getID(r, &g.ID)
	var st shard.State
	getState(r, &st)
	g.State, g.Waiters = st.State, st.Waiters
	g.Served = r.Bool()
	g.Arriving = r.Uint()
	getCounters(r, g.Happened[:], r.Int)
	g.Counted = r.Bool()
	getCounters(r, g.LastMinute[:], r.Uint)
}

// putCounters writes the number of counters, and the counters.
func putCounters[N int64 | uint64](w *writer, counters []N, put func(N)) {
	w.Uint(uint64(len(counters)))
	for _, n := range counters {
		put(n)
	}
}

// getCounters reads counters. A node of another program may know fewer or more counters: missing ones are 0, and
// unknown ones are skipped.
func getCounters[N int64 | uint64](r *reader, counters []N, get func() N) {
	for i := range r.Uint() {
		n := get()
		if r.Failed() {
			return
		}
		if i < uint64(len(counters)) {
			counters[i] = n
		}
	}
}
