package http1

import (
	"io"
	"net"
	"sync"
	"time"
)

// handover is the listener from which net/http receives connections.
type handover struct {
	addr   net.Addr // of the listener whose connections are handed over
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func newHandover() *handover {
	return &handover{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// give hands a connection over. It returns false if the listener is closed.
func (h *handover) give(c net.Conn) bool {
	select {
	case h.conns <- c:
		return true
	case <-h.closed:
		return false
	}
}

// Accept implements net.Listener.
func (h *handover) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

// Addr implements net.Listener.
func (h *handover) Addr() net.Addr { return h.addr }

// Close implements net.Listener.
func (h *handover) Close() error {
	h.once.Do(func() { close(h.closed) })
	return nil
}

// replayed is a connection whose first bytes were already read. It has the methods that net/http looks for.
type replayed struct {
	net.Conn
	read   []byte    // what Read returns first
	headBy time.Time // deadline of the head, part of which has already passed; zero: none
}

// Read implements net.Conn.
func (r *replayed) Read(b []byte) (int, error) {
	if len(r.read) == 0 {
		return r.Conn.Read(b)
	}
	n := copy(b, r.read)
	if r.read = r.read[n:]; len(r.read) == 0 {
		r.read = nil
	}
	return n, nil
}

// NetConn returns the connection itself.
func (r *replayed) NetConn() net.Conn { return r.Conn }

// SetReadDeadline implements net.Conn. The first deadline is for the head, which began before the handover.
func (r *replayed) SetReadDeadline(t time.Time) error {
	if !r.headBy.IsZero() && r.headBy.Before(t) {
		t = r.headBy
	}
	r.headBy = time.Time{}
	return r.Conn.SetReadDeadline(t)
}

// ReadFrom implements io.ReaderFrom, which can avoid copying a file.
func (r *replayed) ReadFrom(from io.Reader) (int64, error) { return io.Copy(r.Conn, from) }

// CloseWrite shuts down the sending side.
func (r *replayed) CloseWrite() error {
	if c, ok := r.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return nil
}
