package http1

import (
	"sync"
	"time"
)

// startedAtOnce is how many watches are started while begin and end of all others wait.
const startedAtOnce = 16

// patience has the young watches of a server, whose requests have not lasted for long, in the order in which they
// began. A timer for each of them would be set and stopped with every request, and start a goroutine for every long
// poll.
//
// It counts the time in ticks of half of watchAfter, and starts a watch in the second tick after its begin. It ticks
// while there are watches.
type patience struct {
	mu          sync.Mutex
	first, last *watch
	tick        uint
	timer       *time.Timer // of the next tick; it calls advance
	ticking     bool
}

// add adds a watch.
func (l *patience) add(w *watch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w.young, w.tick = true, l.tick
	w.prev, w.next = l.last, nil
	if l.last == nil {
		l.first = w
	} else {
		l.last.next = w
	}
	l.last = w
	if !l.ticking {
		l.ticking = true
		l.schedule()
	}
}

// schedule requires the lock.
func (l *patience) schedule() {
	if l.timer == nil {
		l.timer = time.AfterFunc(watchAfter/2, l.advance)
		return
	}
	l.timer.Reset(watchAfter / 2)
}

// remove removes a watch, or reports false if it was started.
func (l *patience) remove(w *watch) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !w.young {
		return false
	}
	l.unlink(w)
	return true
}

// unlink requires the lock.
func (l *patience) unlink(w *watch) {
	if w.prev == nil {
		l.first = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		l.last = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.young, w.prev, w.next = false, nil, nil
}

// advance begins the next tick, and starts the watches that are due.
func (l *patience) advance() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tick++
	for started := 1; l.first != nil && l.tick-l.first.tick >= 2; started++ {
		w := l.first
		l.unlink(w)
		w.start()
		if started%startedAtOnce == 0 {
			l.mu.Unlock() // other requests may begin and end
			l.mu.Lock()
		}
	}
	if l.ticking = l.first != nil; l.ticking {
		l.schedule()
	}
}
