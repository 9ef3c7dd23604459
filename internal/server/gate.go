package server

import (
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"
)

const (
	// makeRoomEvery is how often room is made while somebody waits for it: what
	// was busy may have become idle.
	makeRoomEvery = time.Second
	// fullLogEvery is the least time between two lines in the log about it.
	fullLogEvery = time.Minute
)

// gate is a listener that lets in a bounded number of connections. A newcomer
// that finds it full is accepted and waits at the gate, those behind it in the
// system's queue, until one of those inside has gone.
type gate struct {
	*net.TCPListener
	places chan struct{}
	// makeRoom is called with true, again and again, while somebody waits, and
	// with false when nobody does any more.
	makeRoom func(bool)
	log      *slog.Logger
	logged   time.Time // belongs to the goroutine that accepts

	once   sync.Once
	closed chan struct{}
}

func newGate(l *net.TCPListener, places int, makeRoom func(bool), log *slog.Logger) *gate {
	return &gate{
		TCPListener: l, places: make(chan struct{}, places), makeRoom: makeRoom, log: log, closed: make(chan struct{}),
	}
}

// Accept returns a connection that has a place.
func (g *gate) Accept() (net.Conn, error) {
	conn, err := g.AcceptTCP()
	if err != nil {
		return nil, err
	}
	select {
	case g.places <- struct{}{}:
	default:
		if err := g.wait(); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return &guest{TCPConn: conn, gate: g}, nil
}

// wait takes a place when there is one.
func (g *gate) wait() error {
	if now := time.Now(); now.Sub(g.logged) >= fullLogEvery {
		g.logged = now
		g.log.Warn("connections wait: as many are open as --max-connections allows", "connections", cap(g.places))
	}
	defer g.makeRoom(false)
	again := time.NewTicker(makeRoomEvery)
	defer again.Stop()
	for {
		g.makeRoom(true)
		select {
		case g.places <- struct{}{}:
			return nil
		case <-g.closed:
			return net.ErrClosed
		case <-again.C:
		}
	}
}

func (g *gate) Close() error {
	g.once.Do(func() { close(g.closed) })
	return g.TCPListener.Close()
}

// guest is a connection that gives back its place when it is closed. It has all
// methods of a TCP connection, for which net/http looks.
type guest struct {
	*net.TCPConn
	gate *gate
	once sync.Once
}

func (c *guest) Close() error {
	err := c.TCPConn.Close()
	c.once.Do(func() { <-c.gate.places })
	return err
}
