package front

import (
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// Whether a connection has a place.
const (
	waits  uint8 = iota // for one
	open                // has one
	leaves              // has one that others need
	none
)

// freshFor is how long a connection without a request does not count as idle, as in net/http: its client is about to
// send one.
const freshFor = 5 * time.Second

// limitedConn gives its place back when it is closed. It has all methods of a TCP connection that net/http looks for.
type limitedConn struct {
	*net.TCPConn
	of       *group
	accepted int64        // in nanoseconds of Unix time
	state    atomic.Int32 // an http.ConnState, if net/http serves it

	// The other fields need the lock of the limit.
	place         uint8
	before, after *limitedConn               // in the group, by age
	occupant      interface{ Retire() bool } // nil: net/http alone serves it
}

// OccupiedBy tells who serves the connection without net/http. Retire ends that, and returns true, if no request is in
// progress; the connection is then closed.
func (c *limitedConn) OccupiedBy(occupant interface{ Retire() bool }) {
	l := c.of.crowd.limit
	l.mu.Lock()
	defer l.mu.Unlock()
	c.occupant = occupant
}

// NoteState is the http.Server.ConnState of a server whose connections are limited.
func NoteState(conn net.Conn, state http.ConnState) {
	for {
		switch c := conn.(type) {
		case *limitedConn:
			c.state.Store(int32(state))
			return
		case interface{ NetConn() net.Conn }:
			conn = c.NetConn()
		default:
			return
		}
	}
}

// retire reports whether the connection has no request in progress and can be closed.
func (c *limitedConn) retire(now time.Time) bool {
	switch state := http.ConnState(c.state.Load()); {
	case state == http.StateIdle:
		return true
	case state != http.StateNew:
		return false
	case c.occupant != nil:
		return c.occupant.Retire()
	}
	return now.UnixNano()-c.accepted > int64(freshFor)
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	err := c.TCPConn.Close()
	l := c.of.crowd.limit
	l.mu.Lock()
	l.crowd.remove(c)
	changed := l.crowd.concernsAccept()
	l.mu.Unlock()
	if changed {
		l.signal()
	}
	return err
}

// end closes connections that make room. The server itself closes one with a request in progress, when it has noticed
// that the client is gone.
func end(all []leaver) {
	for _, l := range all {
		if l.busy {
			_, _ = l.CloseRead(), l.CloseWrite() // they fail if the client has left
			continue
		}
		_ = l.Close() // the client learns of the end in any case
	}
}
