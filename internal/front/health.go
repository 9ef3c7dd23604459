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

// Health reports the state of the server. An error that is a HealthError has a text that every client may see.
type Health struct {
	// Live returns an error when the process can no longer serve, and only a new process can read the disk.
	Live func() error
	// Ready returns nil if requests would be served. A disk that hangs may prevent it from returning.
	Ready func(context.Context) error
	// Low reports whether too little space is left to add data.
	Low func() bool
}

// HealthError is an error that every client may read. It was already logged.
type HealthError struct{ Text string }

func (e *HealthError) Error() string { return e.Text }

const (
	// probeTimeout is how long the store may take to prove that it can be written.
	probeTimeout = 5 * time.Second
	// probeGood is how long the result of a probe is valid. Each probe is a synced commit, and any client can request
	// one.
	probeGood = 500 * time.Millisecond
)

// healthz answers whether the process can serve.
func (f *Front) healthz(w http.ResponseWriter) {
	if err := f.Health.Live(); err != nil {
		writeHealth(w, http.StatusServiceUnavailable, words(err))
		return
	}
	writeHealth(w, http.StatusOK, "ok")
}

// readyz answers whether requests would be served: it makes a commit and checks that it becomes durable. A server with
// little space is ready, because no other can deliver the messages that use the space, but the answer mentions the lack
// of space.
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

// words returns the part of an error that every client may read.
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

// probe checks whether the server is ready, once for all concurrent callers. A result is valid for a moment.
type probe struct {
	check func(context.Context) error
	log   *slog.Logger

	mu      sync.Mutex
	began   time.Time
	running chan struct{} // closed when the check ends; nil: none in progress
	over    time.Time
	err     error
}

// result returns the last result if it is still valid, or waits for the next one, at most as long as a check may take.
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
