package front

import (
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/tool/throttle"
)

// makeRoomEvery is how often the server makes room while a client waits: a busy connection may have become idle.
const makeRoomEvery = time.Second

// ConnLimit is a listener with a limited number of connections. When it is full, further ones wait, and addresses share
// the places; see crowd.
type ConnLimit struct {
	*net.TCPListener
	proxies Proxies
	// makeRoom is called with true, again and again, while a connection waits that no address makes room for, and then
	// with false.
	makeRoom func(bool)
	log      *slog.Logger
	full     throttle.Minute // log lines about it

	begin    sync.Once
	failed   chan error    // from accepting
	received chan struct{} // closed when nothing more is accepted
	wake     chan struct{} // for Accept: the crowd has changed
	once     sync.Once
	closed   chan struct{}

	// These belong to Accept.
	rotates bool         // the last argument of makeRoom
	again   *time.Ticker // nil: no connection waits

	mu    sync.Mutex
	crowd crowd
}

// LimitConnections returns a listener that limits the connections of l. Those of proxies count together.
func LimitConnections(
	l *net.TCPListener, places int, proxies Proxies, makeRoom func(bool), log *slog.Logger,
) *ConnLimit {
	out := &ConnLimit{
		TCPListener: l, proxies: proxies, makeRoom: makeRoom, log: log,
		failed: make(chan error), received: make(chan struct{}),
		wake: make(chan struct{}, 1), closed: make(chan struct{}),
	}
	out.crowd = newCrowd(out, places)
	return out
}

// Open returns the number of open connections.
func (l *ConnLimit) Open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.crowd.taken
}

// Accept returns a connection that has a place. One goroutine calls it.
func (l *ConnLimit) Accept() (net.Conn, error) {
	l.begin.Do(func() { go l.receive() })
	for due := false; ; {
		l.rotate(due)
		if c := l.next(); c != nil {
			return c, nil
		}
		var tick <-chan time.Time
		if l.again != nil {
			tick = l.again.C
		}
		select {
		case <-l.wake:
			due = false
		case <-tick:
			l.retry()
			due = true
		case err := <-l.failed:
			return nil, err
		case <-l.closed:
			return nil, net.ErrClosed
		}
	}
}

// receive accepts connections until the listener is closed. It does not wait for places: the next connection may be of
// an address with few.
func (l *ConnLimit) receive() {
	defer close(l.received)
	for {
		conn, err := l.AcceptTCP()
		if err == nil {
			l.enter(conn)
			continue
		}
		select {
		case l.failed <- err:
		case <-l.closed:
			return
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
	}
}

// enter gives a connection a place, or lets it wait for one.
func (l *ConnLimit) enter(conn *net.TCPConn) {
	now := time.Now()
	l.mu.Lock()
	c := l.crowd.add(conn, now)
	out := l.crowd.makeRoomFor(c, now)
	waits := len(l.crowd.waiting) > 0
	l.mu.Unlock()
	end(out)
	if waits {
		l.warn()
	}
	l.signal()
}

// retry makes room again for the connections that wait.
func (l *ConnLimit) retry() {
	var out []leaver
	l.mu.Lock()
	for _, c := range l.crowd.waiting {
		out = append(out, l.crowd.makeRoomFor(c, time.Now())...)
	}
	l.mu.Unlock()
	end(out)
}

// rotate begins or ends to make room at the cost of all connections. If it is due, it makes room again.
func (l *ConnLimit) rotate(due bool) {
	l.mu.Lock()
	wanted, waits := l.crowd.lacksRoom(), len(l.crowd.waiting) > 0
	l.mu.Unlock()
	switch {
	case waits && l.again == nil:
		l.again = time.NewTicker(makeRoomEvery)
	case !waits && l.again != nil:
		l.again.Stop()
		l.again = nil
	}
	if wanted != l.rotates || wanted && due {
		l.rotates = wanted
		l.makeRoom(wanted)
	}
}

// next returns the next connection that has a place, or nil.
func (l *ConnLimit) next() net.Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.crowd.nextReady(); c != nil {
		return c
	}
	return nil
}

// signal lets Accept look at the crowd.
func (l *ConnLimit) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *ConnLimit) warn() {
	if !l.full.Allow(time.Now()) {
		return
	}
	l.mu.Lock()
	places, address, most := l.crowd.places, "", 0
	if g := l.crowd.largest(); g != nil {
		address, most = g.network.String(), g.open
	}
	l.mu.Unlock()
	l.log.Warn("connections wait: as many are open as --max-connections allows",
		"connections", places, "address_with_most", address, "its_connections", most)
}

// Close stops accepting, and closes the connections that wait.
func (l *ConnLimit) Close() error {
	l.stop()
	return l.TCPListener.Close()
}

func (l *ConnLimit) stop() {
	l.once.Do(func() {
		close(l.closed)
		l.mu.Lock()
		out := l.crowd.close()
		l.mu.Unlock()
		end(out)
	})
}

// release stops accepting, and leaves the listener, whose deadline must have passed, to others.
func (l *ConnLimit) release() {
	l.stop()
	l.begin.Do(func() { close(l.received) }) // Accept was not called
	<-l.received
}
