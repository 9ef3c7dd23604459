package http1

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// watchAfter is how long a request lasts before its client is watched. Most requests end sooner.
const watchAfter = 20 * time.Millisecond

// watch detects that the client of a request has left, and then ends the request's context. departures does this work
// if it can. Otherwise the watch reads from the connection in its own goroutine. A received byte is the beginning of
// the next request: the watch keeps it and stops reading.
//
// The watch runs between begin and end, and nothing else reads from the connection meanwhile. begin sets a timer. end
// stops the timer; if it is too late for that, it interrupts the watch by a deadline in the past and waits for it. Both
// may set the connection's deadline only under mu, so that the watch cannot undo the interruption.
type watch struct {
	rwc    net.Conn
	raw    syscall.RawConn // nil: there is no file descriptor
	timer  *time.Timer
	over   chan struct{} // gets a value when run has returned
	begun  bool
	cancel context.CancelFunc // of the request

	mu      sync.Mutex
	stopped bool // end has been called

	// The results. They belong to run until it has returned, and to departures between add and remove.
	one  [1]byte
	n    int // how many bytes of one were read
	gone bool

	listed bool  // departures has it
	number int32 // by which departures knows it
}

// begin watches the client from watchAfter on. Nothing may read from the connection until end.
func (w *watch) begin(cancel context.CancelFunc) {
	w.begun, w.stopped, w.cancel = true, false, cancel
	w.n, w.gone = 0, false
	if w.timer == nil {
		w.over = make(chan struct{}, 1)
		w.timer = time.AfterFunc(watchAfter, w.run)
		return
	}
	w.timer.Reset(watchAfter)
}

// end stops watching. It reports whether gone tells if the client was there until now.
func (w *watch) end() (known bool) {
	if !w.begun {
		return false
	}
	w.begun = false
	if w.timer.Stop() {
		return false
	}
	w.mu.Lock()
	w.stopped = true
	_ = w.rwc.SetReadDeadline(time.Unix(1, 0)) // if that fails, reading fails, too
	w.mu.Unlock()
	<-w.over
	_ = w.rwc.SetReadDeadline(time.Time{})
	if !w.listed {
		return true
	}
	w.listed = false
	departures.remove(w)
	return w.gone // it may have left a moment ago
}

func (w *watch) run() {
	defer func() { w.over <- struct{}{} }()
	w.mu.Lock()
	stopped := w.stopped
	if !stopped {
		_ = w.rwc.SetReadDeadline(time.Time{})
		w.listed = departures.add(w)
	}
	w.mu.Unlock()
	if stopped || w.listed {
		return
	}
	var err error
	w.n, err = w.rwc.Read(w.one[:])
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		w.gone = true
		w.cancel()
	}
}
