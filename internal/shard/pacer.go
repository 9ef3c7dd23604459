package shard

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	// paceSlice is how long a walk works before it pauses and lets another one work.
	paceSlice = time.Millisecond
	// pauseIdle and pauseBusy are how long it pauses: of a shard that has nothing else to do, walks take half of a
	// processor, of one that is busy, a small part. One that has committed something is busy for busyTime.
	pauseIdle = paceSlice
	pauseBusy = 24 * paceSlice
	busyTime  = 250 * time.Millisecond
	// walkTime and walkBytes bound one walk.
	walkTime  = time.Second
	walkBytes = 256 << 20
	// A walk looks at the clock after so many steps or bytes.
	walkSteps = 32
	walkChunk = 32 << 10
)

// pacer bounds what goroutines take of the machine that walk through what a shard has stored, such as a search through
// millions of messages, so that it does not slow down the producers and consumers of the shard. One walk works at a time, for
// a moment, and then all pause, for longer if the shard is busy.
type pacer struct {
	turn    chan struct{} // has an element while a walk has its turn
	commits atomic.Uint64 // of the shard
	closing <-chan struct{}

	// Of the walk that has its turn:
	seen      uint64 // of the commits
	busyUntil time.Time
}

func newPacer(closing <-chan struct{}) *pacer {
	return &pacer{turn: make(chan struct{}, 1), closing: closing}
}

// begin waits for a turn. The walk must end.
func (p *pacer) begin(ctx context.Context) (*walk, error) {
	w := &walk{pacer: p, ctx: ctx}
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-p.closing:
		return nil, ErrNotBegun
	}
	w.slice = time.Now()
	w.stop = w.slice.Add(walkTime)
	return w, nil
}

// walk is one walk under way. It belongs to one goroutine, which has the turn except in a pause.
type walk struct {
	pacer *pacer
	ctx   context.Context
	stop  time.Time
	slice time.Time // when its turn began
	steps int       // since it has looked at the clock
	chunk int       // bytes since then
	bytes int       // altogether
}

// proceed is called after each step, with the bytes that it has read, and reports whether to take the next one. It pauses
// when that is due.
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

// pause returns how long walks pause now.
func (p *pacer) pause(now time.Time) time.Duration {
	if commits := p.commits.Load(); commits != p.seen {
		p.seen, p.busyUntil = commits, now.Add(busyTime)
	}
	if now.Before(p.busyUntil) {
		return pauseBusy
	}
	return pauseIdle
}

// pause waits, keeping the turn so that no other walk works meanwhile, and gives it to the walk that has waited longest. It
// reports false if the walk has to end.
func (w *walk) pause(now time.Time) bool {
	timer := time.NewTimer(w.pacer.pause(now))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.ctx.Done():
		return false
	case <-w.pacer.closing:
		return false
	}
	<-w.pacer.turn
	w.pacer.turn <- struct{}{} // those that wait come first
	w.slice = time.Now()
	return true
}

func (w *walk) end() { <-w.pacer.turn }
