package shard

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/internal/tool/fairshare"
)

const (
	// paceSlice is how long a walk works before it pauses and lets another one work.
	paceSlice = time.Millisecond
	// pauseIdle and pauseBusy are the ratio of pauses to work. On an otherwise idle shard, walks take half of a
	// processor; on a busy one, a small part. A shard is busy for busyTime after a commit. A step that takes long, such
	// as a filter on a large body, makes a long pause of at most longestPause.
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

// pacer limits how much of the machine is used by goroutines that walk through what a shard has stored, such as a
// search through millions of messages. They must not slow down the producers and consumers of the shard. One walk works
// at a time, for a moment, and then all pause, for longer if the shard is busy. Accounts take turns, regardless of how
// many walks each has.
type pacer struct {
	turn    *fairshare.Places // one place, of the walk that has its turn
	commits atomic.Uint64     // of the shard
	open    context.Context   // ends when the shard is being closed
	close   func()

	// Of the walk that has its turn:
	seen      uint64 // of the commits
	busyUntil time.Time
}

func newPacer() *pacer {
	p := &pacer{turn: fairshare.New(fairshare.Options{Places: 1})}
	p.open, p.close = context.WithCancel(context.Background())
	return p
}

// begin waits for a turn of an account. The walk must end.
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
	steps   int       // since it has looked at the clock
	chunk   int       // bytes since then
	bytes   int       // altogether
}

// proceed is called after each step with the bytes that it has read, and reports whether to take the next step. It
// pauses when a pause is due.
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

// pause returns how long walks pause after one has worked for a time.
func (p *pacer) pause(now time.Time, worked time.Duration) time.Duration {
	if commits := p.commits.Load(); commits != p.seen {
		p.seen, p.busyUntil = commits, now.Add(busyTime)
	}
	if now.Before(p.busyUntil) {
		return min(pauseBusy*worked, longestPause)
	}
	return min(pauseIdle*worked, longestPause)
}

// pause waits, keeping the turn so that no other walk works meanwhile, and then gives it to a walk that waits. It
// reports false if the walk must end.
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
