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

// watchAfter is how long a request lasts at most before its client is watched; at least it is half as long. Most
// requests end sooner.
const watchAfter = 20 * time.Millisecond

// watch detects that the client of a request has left, and then ends the request's context. departures does this work
// if it can. Otherwise the watch reads from the connection in its own goroutine. A received byte is the beginning of
// the next request: the watch keeps it and stops reading.
//
// The watch runs between begin and end, and nothing else reads from the connection meanwhile. It is in one of four
// states: not begun, young (patience has it), listed (departures has it), or reading. Only patience moves it from young
// to listed or reading. It holds its lock meanwhile, as begin and end do.
type watch struct {
	rwc      net.Conn
	raw      syscall.RawConn // nil: there is no file descriptor
	patience *patience
	begun    bool
	cancel   context.CancelFunc // of the request
	// stayedYoung tells after end that the client was not watched, which would have changed the connection's deadline.
	stayedYoung bool

	// young requires the lock of patience, as does what follows.
	young      bool
	prev, next *watch
	tick       uint // of begin

	listed  bool
	number  int32 // by which departures knows it
	reading sync.WaitGroup

	// The results. They belong to read until it has returned, and to departures between add and remove.
	one  [1]byte
	n    int // how many bytes of one were read
	gone bool
}

// begin watches the client if the request lasts. Nothing may read from the connection until end.
func (w *watch) begin(cancel context.CancelFunc) {
	w.begun, w.cancel = true, cancel
	w.n, w.gone = 0, false
	w.patience.add(w)
}

// end stops watching. It reports whether gone tells if the client was there until now.
func (w *watch) end() (known bool) {
	if !w.begun {
		return false
	}
	w.begun = false
	if w.stayedYoung = w.patience.remove(w); w.stayedYoung {
		return false
	}
	if w.listed {
		w.listed = false
		departures.remove(w)
		return w.gone // it may have left a moment ago
	}
	_ = w.rwc.SetReadDeadline(time.Unix(1, 0)) // if that fails, reading fails, too
	w.reading.Wait()
	_ = w.rwc.SetReadDeadline(time.Time{})
	return true
}

// start begins to watch.
func (w *watch) start() {
	_ = w.rwc.SetReadDeadline(time.Time{}) // a request may last longer than its head may take
	if w.listed = departures.add(w); !w.listed {
		w.reading.Go(w.read)
	}
}

func (w *watch) read() {
	var err error
	w.n, err = w.rwc.Read(w.one[:])
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		w.gone = true
		w.cancel()
	}
}
