package front

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// Health says how the server is. Its errors have words for every client if they are a HealthError.
type Health struct {
	// Live returns an error when the process is of no use any more, and only another one can find out what is on the
	// disk.
	Live func() error
	// Ready returns nil if requests would be served. A disk that hangs may keep it from returning.
	Ready func(context.Context) error
	// Low reports whether too little space is left to add anything.
	Low func() bool
}

// HealthError is an error that every client may read. It is in the log already.
type HealthError struct{ Text string }

func (e *HealthError) Error() string { return e.Text }

const (
	// probeTimeout is how long the store may take to show that it can be written.
	probeTimeout = 5 * time.Second
	// probeGood is how long the result of a probe holds. Each is a synced commit, and any client can ask for it.
	probeGood = 500 * time.Millisecond
)

// healthz answers whether the process is of use.
func (f *Front) healthz(w http.ResponseWriter) {
	if err := f.Health.Live(); err != nil {
		writeHealth(w, http.StatusServiceUnavailable, words(err))
		return
	}
	writeHealth(w, http.StatusOK, "ok")
}

// readyz answers whether requests would be served: whether a commit, made for the purpose, becomes durable. A server
// that is short of space is ready, because no other can give out the messages that take it, but says so.
func (f *Front) readyz(w http.ResponseWriter, r *http.Request) {
	switch err := f.ready.result(r.Context()); {
	case err != nil:
		writeHealth(w, http.StatusServiceUnavailable, words(err))
	case f.Health.Low():
		writeHealth(w, http.StatusOK, "ok, but the disk is nearly full: nothing can be added")
	default:
		writeHealth(w, http.StatusOK, "ok")
	}
}

// words is what every client may know of an error.
func words(err error) string {
	if known, ok := errors.AsType[*HealthError](err); ok {
		return known.Text
	}
	return "the store cannot be written"
}

func writeHealth(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n") // a client that has left needs no answer
}

// probe finds out whether the server is ready, once for all who ask at a time. A result is good for a moment.
type probe struct {
	check func(context.Context) error
	log   *slog.Logger

	mu      sync.Mutex
	began   time.Time
	running chan struct{} // closed when the check is over; nil: none is under way
	over    time.Time
	err     error
}

// result returns what the last check found, if that is good, or waits for the next one to end, as long as a check may
// take.
func (p *probe) result(ctx context.Context) error {
	p.mu.Lock()
	now := time.Now()
	if p.running == nil && !p.over.IsZero() && now.Sub(p.over) < probeGood {
		defer p.mu.Unlock()
		return p.err
	}
	if p.running == nil {
		p.running, p.began = make(chan struct{}), now
		go p.run(p.running)
	}
	running, left := p.running, probeTimeout-now.Sub(p.began)
	p.mu.Unlock()
	timeout := time.NewTimer(left)
	defer timeout.Stop()
	select {
	case <-running:
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.err
	case <-timeout.C:
		return context.DeadlineExceeded
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (p *probe) run(running chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	err := p.check(ctx)
	if _, known := errors.AsType[*HealthError](err); err != nil && !known {
		p.log.Warn("not ready", "error", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err, p.over, p.running = err, time.Now(), nil
	close(running)
}
