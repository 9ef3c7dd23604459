package http1

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"
)

// How often Shutdown looks whether requests are under way: as in net/http.
const (
	minLook = time.Millisecond
	maxLook = 500 * time.Millisecond
)

// SetKeepAlivesEnabled says whether connections are kept for further requests. If they are not, those that are idle are
// closed at once, and others after the answer that is under way.
func (s *Server) SetKeepAlivesEnabled(on bool) {
	s.noKeeping.Store(!on)
	s.http.SetKeepAlivesEnabled(on)
	if !on {
		s.closeIdle()
	}
}

// Shutdown lets no more requests in and waits until those under way are answered. It returns ctx's error if they are
// not when ctx ends.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stopping.Store(true)
	err := s.closeListener()
	rest := make(chan error, 1)
	go func() { rest <- s.http.Shutdown(ctx) }()
	look := time.NewTicker(minLook)
	defer look.Stop()
	for every := minLook; !s.closeIdle(); look.Reset(every) {
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-look.C:
			every = min(2*every, maxLook)
		}
	}
	return errors.Join(err, <-rest)
}

// Close closes the listener and all connections.
func (s *Server) Close() error {
	s.stopping.Store(true)
	err := s.closeListener()
	for _, c := range s.all() {
		_ = c.rwc.Close() // the client learns of the end in any case
	}
	return errors.Join(err, s.http.Close())
}

// closeIdle closes the connections on which no request is under way. It reports whether there are no others.
func (s *Server) closeIdle() bool {
	now, quiet := time.Now(), true
	for _, c := range s.all() {
		if !c.closeIdle(now) {
			quiet = false
		}
	}
	return quiet
}

// all returns the connections that are served here.
func (s *Server) all() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.conns))
}
