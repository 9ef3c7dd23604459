package server

import (
	"context"
	"io"
	"net/http"
	"time"
)

// probeTimeout is how long the store may take to show that it can be written.
const probeTimeout = 5 * time.Second

// healthz answers as long as the process is there to answer.
func (h *handler) healthz(w http.ResponseWriter) { health(w, http.StatusOK, "ok\n") }

// readyz answers whether requests would be served: whether a commit, made for
// the purpose, becomes durable.
func (h *handler) readyz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), probeTimeout)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- h.server.shard.Probe(ctx) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		h.log.Warn("not ready", "error", err)
		health(w, http.StatusServiceUnavailable, "the store cannot be written\n")
		return
	}
	health(w, http.StatusOK, "ok\n")
}

func health(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text) // a client that has gone needs no answer
}
