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

// Server answers the requests of a listener's connections. It reads plain ones itself and has an http.Server read all
// others.
type Server struct {
	http    *http.Server
	maxBody int64
	takes   func(path string) bool
	rest    *handover // to http

	stopping  atomic.Bool
	noKeeping atomic.Bool // of connections for further requests

	mu       sync.Mutex
	listener net.Listener // nil: nothing is accepted
	conns    map[*conn]struct{}
}

// New returns a server with the handler, the limits and the log of h, which must have a handler and serve no other
// listener. It reads plain requests itself whose bodies have at most maxBody bytes and for whose decoded path takes
// returns true. Their handlers get no http.Hijacker, and a connection ends with an answer that is longer than 16 KiB
// and has no Content-Length.
func New(h *http.Server, maxBody int64, takes func(path string) bool) *Server {
	return &Server{http: h, maxBody: maxBody, takes: takes, rest: newHandover(), conns: make(map[*conn]struct{})}
}

// How long accepting pauses after an error that may pass, such as too many open files: as in net/http.
const (
	minPause = 5 * time.Millisecond
	maxPause = time.Second
)

// Serve answers the requests of the connections that l accepts, and closes l in the end. It always returns an error:
// http.ErrServerClosed after Shutdown or Close.
func (s *Server) Serve(l net.Listener) error {
	if !s.listen(l) {
		return errors.Join(http.ErrServerClosed, l.Close())
	}
	defer func() { _ = s.closeListener() }() // its error is of no use beside the one that is returned
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

// listen notes the listener, unless the server is stopping.
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

// forget takes a connection off the list of those that are served here.
func (s *Server) forget(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

// keepsAlive reports whether connections are kept for further requests.
func (s *Server) keepsAlive() bool { return !s.noKeeping.Load() && !s.stopping.Load() }

// headerTimeout is how long a client has to send a head; zero: there is no limit.
func (s *Server) headerTimeout() time.Duration {
	return cmp.Or(s.http.ReadHeaderTimeout, s.http.ReadTimeout)
}

// idleTimeout is how long a connection is kept for the next request; zero: there is no limit.
func (s *Server) idleTimeout() time.Duration { return cmp.Or(s.http.IdleTimeout, s.http.ReadTimeout) }

func (s *Server) logf(format string, args ...any) {
	if s.http.ErrorLog != nil {
		s.http.ErrorLog.Printf(format, args...)
		return
	}
	log.Printf(format, args...)
}

// logPanic logs what a handler has panicked with, unless that only ends its connection.
func (s *Server) logPanic(remote string, p any) {
	if p != http.ErrAbortHandler { //nolint:errorlint // panics are compared so by net/http
		s.logf("http1: panic serving %v: %v\n%s", remote, p, debug.Stack())
	}
}
