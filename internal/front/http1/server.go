package http1

import (
	"cmp"
	"errors"
	"log"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// Server answers the requests of a listener's connections. It reads plain ones itself and passes all others to an
// http.Server.
type Server struct {
	http    *http.Server
	maxBody int64
	takes   func(path string) bool
	rest    *handover // to http

	patience patience

	stopping  atomic.Bool
	noKeeping atomic.Bool // keep connections for further requests

	mu       sync.Mutex
	listener net.Listener // nil: it does not accept
	conns    map[*conn]struct{}
}

// New returns a server with the handler, the limits and the log of h, which must have a handler and serve no other
// listener. The server reads plain requests itself if their bodies have at most maxBody bytes and takes returns true
// for their decoded path. Their handlers get no http.Hijacker, and an answer of more than 16 KiB without Content-Length
// ends its connection.
func New(h *http.Server, maxBody int64, takes func(path string) bool) *Server {
	return &Server{http: h, maxBody: maxBody, takes: takes, rest: newHandover(), conns: make(map[*conn]struct{})}
}

// The pause of accepting after a temporary error, such as too many open files: as in net/http.
const (
	minPause = 5 * time.Millisecond
	maxPause = time.Second
)

// Serve answers the requests of the connections that l accepts, and closes l at the end. It always returns an error:
// http.ErrServerClosed after Shutdown or Close.
func (s *Server) Serve(l net.Listener) error {
	if !s.listen(l) {
		return errors.Join(http.ErrServerClosed, l.Close())
	}
	defer func() { _ = s.closeListener() }() // the returned error is more important
	s.rest.addr = l.Addr()
	go func() { _ = s.http.Serve(s.rest) }() // it ends with s
	var pause time.Duration
	for {
		rwc, err := l.Accept()
		switch {
		case err == nil:
			pause = 0
			s.start(rwc)
		case s.stopping.Load():
			return http.ErrServerClosed
		case !isTemporary(err):
			return err
		default:
			pause = min(max(2*pause, minPause), maxPause)
			s.logf("http1: accept: %v; again in %v", err, pause)
			time.Sleep(pause)
		}
	}
}

func isTemporary(err error) bool {
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Temporary() //nolint:staticcheck // as net/http: there is no other way to find out
}

// listen sets the listener, unless the server is stopping.
func (s *Server) listen(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping.Load() {
		return false
	}
	s.listener = l
	return true
}

// closeListener closes the listener, once.
func (s *Server) closeListener() error {
	s.mu.Lock()
	l := s.listener
	s.listener = nil
	s.mu.Unlock()
	if l == nil {
		return nil
	}
	return l.Close()
}

// start serves a connection.
func (s *Server) start(rwc net.Conn) {
	c := newConn(s, rwc)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping.Load() {
		_ = rwc.Close() // the client learns of the end in any case
		return
	}
	s.conns[c] = struct{}{}
	go c.serve()
}

// forget removes a connection from those that are served here.
func (s *Server) forget(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

// keepsAlive reports whether connections are kept for further requests.
func (s *Server) keepsAlive() bool { return !s.noKeeping.Load() && !s.stopping.Load() }

// headerTimeout is how long a client may take to send a head. Zero means no limit.
func (s *Server) headerTimeout() time.Duration {
	return cmp.Or(s.http.ReadHeaderTimeout, s.http.ReadTimeout)
}

// idleTimeout is how long a connection is kept for the next request. Zero means no limit.
func (s *Server) idleTimeout() time.Duration { return cmp.Or(s.http.IdleTimeout, s.http.ReadTimeout) }

func (s *Server) logf(format string, args ...any) {
	if s.http.ErrorLog != nil {
		s.http.ErrorLog.Printf(format, args...)
		return
	}
	log.Printf(format, args...)
}

// logPanic logs the panic of a handler, unless it only ends its connection.
func (s *Server) logPanic(remote string, p any) {
	if p != http.ErrAbortHandler { //nolint:errorlint // panics are compared so by net/http
		s.logf("http1: panic serving %v: %v\n%s", remote, p, debug.Stack())
	}
}
