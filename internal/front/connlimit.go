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

// ConnLimit is a listener with a limited number of connections. When it is full, it accepts one more connection, which
// waits until another is closed. Further ones wait in the system's queue.
type ConnLimit struct {
	*net.TCPListener
	places chan struct{}
	// makeRoom is called with true, again and again, while a connection waits, and then with false.
	makeRoom func(bool)
	log      *slog.Logger
	full     throttle.Minute // log lines about it

	once   sync.Once
	closed chan struct{}
}

// LimitConnections returns a listener that limits the connections of l.
func LimitConnections(l *net.TCPListener, places int, makeRoom func(bool), log *slog.Logger) *ConnLimit {
	return &ConnLimit{
		TCPListener: l, places: make(chan struct{}, places), makeRoom: makeRoom, log: log, closed: make(chan struct{}),
	}
}

// Open returns the number of open connections.
func (l *ConnLimit) Open() int { return len(l.places) }

// Accept returns a connection that has a place.
func (l *ConnLimit) Accept() (net.Conn, error) {
	conn, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	select {
	case l.places <- struct{}{}:
	default:
		if err := l.wait(); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return &limitedConn{TCPConn: conn, limit: l}, nil
}

// wait takes a place as soon as there is one.
func (l *ConnLimit) wait() error {
	if l.full.Allow(time.Now()) {
		l.log.Warn("connections wait: as many are open as --max-connections allows", "connections", cap(l.places))
	}
	defer l.makeRoom(false)
	again := time.NewTicker(makeRoomEvery)
	defer again.Stop()
	for {
		l.makeRoom(true)
		select {
		case l.places <- struct{}{}:
			return nil
		case <-l.closed:
			return net.ErrClosed
		case <-again.C:
		}
	}
}

// Close stops accepting, and releases a connection that waits.
func (l *ConnLimit) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.TCPListener.Close()
}

// limitedConn returns its place when it is closed. It has all methods of a TCP connection that net/http looks for.
type limitedConn struct {
	*net.TCPConn
	limit *ConnLimit
	once  sync.Once
}

func (c *limitedConn) Close() error {
	err := c.TCPConn.Close()
	c.once.Do(func() { <-c.limit.places })
	return err
}
