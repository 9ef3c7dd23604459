package http1

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// The states of a connection. The server may close fresh and idle ones at any time.
const (
	fresh  int32 = iota // before the head of its first request
	idle                // between requests
	active              // a request is in progress
	closed              // by the server
)

// freshFor is how long a new connection counts as fresh before it is treated as idle, as in net/http: a client that has
// just connected is about to send a request.
const freshFor = 5 * time.Second

// conn is a connection whose requests are read here. Everything except the state and the watch belongs to its
// goroutine.
type conn struct {
	server   *Server
	rwc      net.Conn
	remote   string
	accepted time.Time
	base     base // of its requests
	state    atomic.Int32

	socket   socket
	in       *buffer   // nil: no unused bytes
	began    time.Time // when the current request began
	readBy   time.Time // the deadlines that are set; zero: none, or not known
	writeBy  time.Time
	newlines int // how many CR and LF may still precede the next request
	watch    watch
}

// base is the context from which the requests of a connection get theirs. It has the values that net/http gives to
// handlers. Two contexts by context.WithValue would take more memory, and each request would walk through them twice.
type base struct {
	context.Context
	server *http.Server
	local  net.Addr
}

// Value implements context.Context.
func (b *base) Value(key any) any {
	switch key {
	case http.ServerContextKey:
		return b.server
	case http.LocalAddrContextKey:
		return b.local
	}
	return b.Context.Value(key)
}

func newConn(s *Server, rwc net.Conn) *conn {
	c := &conn{server: s, rwc: rwc, accepted: time.Now()}
	c.base = base{Context: context.Background(), server: s.http, local: rwc.LocalAddr()}
	c.socket.open(rwc)
	c.watch.rwc, c.watch.raw, c.watch.patience = rwc, c.socket.raw, &s.patience
	if l, ok := rwc.(limited); ok {
		l.OccupiedBy(c)
	}
	return c
}

// limited is a connection that others may need the place of.
type limited interface {
	OccupiedBy(occupant interface{ Retire() bool })
}

// Retire keeps requests from beginning, if none is in progress, and returns false otherwise. The caller then closes
// the connection.
func (c *conn) Retire() bool { return c.retire(time.Now()) }

func (c *conn) retire(now time.Time) bool {
	return now.Sub(c.accepted) > freshFor && c.state.CompareAndSwap(fresh, closed) ||
		c.state.CompareAndSwap(idle, closed)
}

// closeIdle closes the connection if no request is in progress on it, and returns false otherwise.
func (c *conn) closeIdle(now time.Time) bool {
	if c.retire(now) {
		_ = c.rwc.Close() // the client learns of the end in any case
	}
	return c.state.Load() == closed
}

// activate begins a request, unless the server has closed the connection.
func (c *conn) activate() bool {
	return c.state.CompareAndSwap(idle, active) || c.state.CompareAndSwap(fresh, active)
}

// serve answers requests until the connection ends or net/http takes it over.
func (c *conn) serve() {
	handedOver := false
	defer func() {
		if p := recover(); p != nil {
			c.server.logPanic(c.remote, p)
		}
		c.watch.end()
		c.releaseBuffer()
		c.server.forget(c)
		if !handedOver {
			_ = c.rwc.Close() // the client learns of the end in any case
		}
	}()
	if addr := c.rwc.RemoteAddr(); addr != nil {
		c.remote = addr.String()
	}
	handedOver = c.serveRequests()
}

// serveRequests returns when the connection must be closed, or true when net/http has it.
func (c *conn) serveRequests() (handedOver bool) {
	for {
		length, v, err := c.readHead()
		if err != nil {
			return false
		}
		var h head
		if v == plain {
			var ok bool
			if h, ok = parse(c.in.unread()[:length], c.server.maxBody); !ok || !c.server.takes(h.url.Path) {
				v = foreign
			}
		}
		if v == foreign {
			return c.handOver()
		}
		c.in.r += length
		if !c.activate() || c.server.stopping.Load() || !c.answer(&h) {
			return false
		}
		c.newlines = maxNewlines
		c.state.Store(idle)
		if !c.server.keepsAlive() {
			return false
		}
	}
}

// handOver passes the connection to net/http, with all unused bytes. It returns false if net/http accepts no more
// connections.
func (c *conn) handOver() bool {
	var read []byte
	if c.in != nil {
		read = append(read, c.in.unread()...)
	}
	if !c.activate() { // from now on net/http knows its state
		return false
	}
	if c.rwc.SetReadDeadline(time.Time{}) != nil || c.rwc.SetWriteDeadline(time.Time{}) != nil {
		return false
	}
	r := &replayed{Conn: c.rwc, read: read}
	if d := c.server.headerTimeout(); d > 0 {
		r.headBy = c.began.Add(d)
	}
	return c.server.rest.give(r)
}
