package http1

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"
)

// How often Shutdown checks for requests in progress: as in net/http.
const (
	minLook = time.Millisecond
	maxLook = 500 * time.Millisecond
)

// SetKeepAlivesEnabled sets whether connections are kept for further requests. If not, idle ones are closed at once,
// and the others after their current answer.
func (s *Server) SetKeepAlivesEnabled(on bool) {
	s.noKeeping.Store(!on)
	s.http.SetKeepAlivesEnabled(on)
	if !on {
		s.closeIdle()
	}
}

// Shutdown admits no more requests and waits until those in progress are answered. It returns ctx's error if ctx ends
// before that.
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

// closeIdle closes the connections without a request in progress. It reports whether there are no others.
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
