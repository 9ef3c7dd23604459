package http1

import (
	"errors"
	"sync"
	"syscall"
)

// departures detects for all watches of the process that clients have left, in one goroutine. A goroutine per watch
// would take a fifth of the memory of a waiting long poll.
//
// The kernel reports once for a connection that there is something to read: bytes, or the end. departures checks which
// it is, without consuming it. If it is bytes, departures stops watching the connection.
var departures leavers

// leavers holds the connections whose clients are watched.
type leavers struct {
	once  sync.Once
	epoll int // file descriptor; negative: none

	mu      sync.Mutex // held while a watch is checked, so that remove waits for that
	last    int32
	watches map[int32]*watch // by the kernel's number
}

// add watches for a client until remove. It returns false if that is not possible for its connection.
func (l *leavers) add(w *watch) bool {
	if w.raw == nil {
		return false
	}
	l.once.Do(l.start)
	if l.epoll < 0 {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.last++; l.watches[l.last] != nil; l.last++ { // the counter may have wrapped around
	}
	w.number = l.last
	l.watches[w.number] = w
	if !w.control(syscall.EPOLL_CTL_ADD) {
		delete(l.watches, w.number)
		return false
	}
	return true
}

// remove undoes add. From then on, the results of w belong to its caller.
func (l *leavers) remove(w *watch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.watches, w.number)
	w.control(syscall.EPOLL_CTL_DEL) // a connection that is closed is off the list
}

// control changes whether the kernel reports on the connection.
func (w *watch) control(op int) (ok bool) {
	event := syscall.EpollEvent{Events: syscall.EPOLLIN | syscall.EPOLLONESHOT, Fd: w.number}
	err := w.raw.Control(func(fd uintptr) {
		ok = syscall.EpollCtl(departures.epoll, op, int(fd), &event) == nil
	})
	return ok && err == nil
}

func (l *leavers) start() {
	l.watches = make(map[int32]*watch)
	var err error
	if l.epoll, err = syscall.EpollCreate1(syscall.EPOLL_CLOEXEC); err != nil {
		l.epoll = -1
		return
	}
	go l.run()
}

// run waits for reports. It runs as long as the process.
func (l *leavers) run() {
	events := make([]syscall.EpollEvent, 128)
	for {
		n, err := syscall.EpollWait(l.epoll, events, -1)
		if err != nil { // only an interruption is possible
			continue
		}
		l.mu.Lock()
		for _, event := range events[:n] {
			if w := l.watches[event.Fd]; w != nil && w.left() {
				w.gone = true
				w.cancel()
			}
		}
		l.mu.Unlock()
	}
}

// left reports whether the readable event is the end.
func (w *watch) left() bool {
	var (
		b   [1]byte
		n   int
		err error
	)
	closed := w.raw.Control(func(fd uintptr) {
		n, _, err = syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	})
	switch {
	case closed != nil:
		return true
	case err != nil:
		return !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EINTR)
	}
	return n == 0
}
