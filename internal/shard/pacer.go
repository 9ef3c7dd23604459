package shard

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/internal/tool/fairshare"
)

const (
	// paceSlice is how long a walk works before it pauses, and then lets another one work.
	paceSlice = time.Millisecond
	// pauseIdle and pauseBusy are the ratio of pauses to work. On an otherwise idle shard, walks use half of a
	// processor; on a busy one, a small part. A shard counts as busy for busyTime after a commit. A long step, such as
	// a filter on a large body, makes a long pause, of at most longestPause.
	pauseIdle    = 1
	pauseBusy    = 24
	busyTime     = 250 * time.Millisecond
	longestPause = time.Second
	// walkTime and walkBytes limit one walk.
	walkTime  = time.Second
	walkBytes = 256 << 20
	// A walk reads the clock after this many steps or bytes.
	walkSteps = 32
	walkChunk = 32 << 10
)

// pacer limits how much of the machine is used by walks through the data of a shard, such as a search through millions
// of messages. They must not slow down the producers and consumers of the shard. One walk works at a time, for a
// moment. Then all pause, longer if the shard is busy. Accounts take turns, regardless of how many walks each has.
type pacer struct {
	turn    *fairshare.Places // a single place, for the walk whose turn it is
	commits atomic.Uint64     // of the shard
	open    context.Context   // ends when the shard is being closed
	close   func()

	// Of the walk whose turn it is:
	seen      uint64 // of the commits
	busyUntil time.Time
}

func newPacer() *pacer {
	p := &pacer{turn: fairshare.New(fairshare.Options{Places: 1})}
	p.open, p.close = context.WithCancel(context.Background())
	return p
}

// begin waits for the turn of an account, and begins a walk. The caller must end the walk.
func (p *pacer) begin(ctx context.Context, account string) (*walk, error) {
	w := &walk{pacer: p, ctx: ctx, account: account}
	if err := w.take(); err != nil {
		return nil, err
	}
	w.stop = w.slice.Add(walkTime)
	return w, nil
}

// walk is one walk in progress. It belongs to one goroutine, which has the turn except during a pause.
type walk struct {
	pacer   *pacer
	ctx     context.Context
	account string
	give    func() // gives the turn back
	stop    time.Time
	slice   time.Time // when its turn began
	steps   int       // since it last read the clock
	chunk   int       // bytes since then
	bytes   int       // altogether
}

// proceed is called after each step with the bytes that the step has read. It pauses when a pause is due, and reports
// whether to take another step.
func (w *walk) proceed(bytes int) bool {
	w.steps++
	w.chunk += bytes
	if w.steps < walkSteps && w.chunk < walkChunk {
		return true
	}
	w.bytes += w.chunk
	w.steps, w.chunk = 0, 0
	now := time.Now()
	switch {
	case w.bytes >= walkBytes || now.After(w.stop):
		return false
	case now.Sub(w.slice) >= paceSlice:
		return w.pause(now)
	}
	return true
}

// pause returns how long walks pause after one has worked for the given time.
func (p *pacer) pause(now time.Time, worked time.Duration) time.Duration {
	if commits := p.commits.Load(); commits != p.seen {
		p.seen, p.busyUntil = commits, now.Add(busyTime)
	}
	if now.Before(p.busyUntil) {
		return min(pauseBusy*worked, longestPause)
	}
	return min(pauseIdle*worked, longestPause)
}

// pause waits, and then lets another waiting walk take its turn. It keeps its own turn while it waits, so that no walk
// works. It reports false if the walk must end.
func (w *walk) pause(now time.Time) bool {
	timer := time.NewTimer(w.pacer.pause(now, now.Sub(w.slice)))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.ctx.Done():
		return false
	case <-w.pacer.open.Done():
		return false
	}
	w.give()
	return w.take() == nil
}

// take waits for the walk's turn.
func (w *walk) take() error {
	ctx, cancel := context.WithCancelCause(w.ctx)
	defer cancel(nil)
	defer context.AfterFunc(w.pacer.open, func() { cancel(ErrNotBegun) })()
	if w.pacer.open.Err() != nil {
		return ErrNotBegun
	}
	give, err := w.pacer.turn.Take(ctx, w.account)
	if err != nil {
		return err
	}
	w.give, w.slice = give, time.Now()
	return nil
}

func (w *walk) end() { w.give() }
