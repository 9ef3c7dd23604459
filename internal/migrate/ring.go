package migrate

import (
	"sync"
	"time"
)

// ring decides which queue is served next: each in its turn, a FIFO queue by one worker at a time. A queue without
// messages is checked again after a pause. It has ended when the source has nothing left, or nothing has moved for as
// long as the run waits for delayed messages and for those in flight.
type ring struct {
	mu    sync.Mutex
	lines []*line
	next  int

	follow      bool          // no queue ends
	pause, wait time.Duration // between looks at a queue without messages; for messages that are delayed or in flight
}

// line is a queue that is being moved.
type line struct {
	name     string
	from, to string // its URLs
	fifo     bool

	busy    int // workers
	ended   bool
	due     time.Time
	changed time.Time // when a message moved last
	moved   int
	refused map[string]bool // messages, by id
	blocked map[string]bool // message groups with a refused message
	left    int             // messages in the source at the last check
}

// take returns a queue to serve. It returns nil if none is due, and whether all have ended.
func (r *ring) take(now time.Time) (l *line, ended bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ended = true
	for range r.lines {
		l := r.lines[r.next]
		r.next = (r.next + 1) % len(r.lines)
		if l.ended {
			continue
		}
		ended = false
		if l.due.After(now) || l.fifo && l.busy > 0 {
			continue
		}
		if l.busy++; l.changed.IsZero() {
			l.changed = now
		}
		return l, false
	}
	return nil, ended
}

// put returns a queue after a worker has moved some of its messages, or has left some at the source.
func (r *ring) put(l *line, now time.Time, moved, left int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l.busy--
	l.moved += moved
	if moved > 0 {
		l.changed = now
		return
	}
	l.left, l.due = left, now.Add(r.pause)
	l.ended = !r.follow && (left == 0 || now.Sub(l.changed) >= r.wait)
}

// refuse records that the target does not accept a message.
func (r *ring) refuse(l *line, m *received) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l.refused[m.MessageId] = true
	if l.fifo {
		l.blocked[m.group()] = true
	}
}

// stays reports whether a message stays at the source: the target has refused it, or one before it in its group.
func (r *ring) stays(l *line, m *received) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return l.refused[m.MessageId] || l.fifo && l.blocked[m.group()]
}

// moved returns how many messages have been moved in all.
func (r *ring) moved() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.lines {
		n += l.moved
	}
	return n
}
