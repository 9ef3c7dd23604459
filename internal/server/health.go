package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/shard"
)

// probeTimeout is how long the store may take to show that it can be written.
const probeTimeout = 5 * time.Second

// healthz answers whether the process is of use: it is not when the disk has
// failed and only another process can find out what is on it.
func (h *handler) healthz(w http.ResponseWriter) {
	if err := h.server.disk.Life().Err(); err != nil {
		health(w, http.StatusServiceUnavailable, reason(err))
		return
	}
	health(w, http.StatusOK, "ok\n")
}

// readyz answers whether requests would be served: whether a commit, made for
// the purpose, becomes durable. A server that is short of space is ready, because
// nobody else can give out the messages that take it, but says so.
func (h *handler) readyz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), probeTimeout)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- h.server.probe(ctx) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	switch {
	case service.OfTheDisk(err): // which is in the log already
		health(w, http.StatusServiceUnavailable, reason(err))
	case err != nil:
		h.log.Warn("not ready", "error", err)
		health(w, http.StatusServiceUnavailable, "the store cannot be written\n")
	case h.server.space.room() != nil:
		health(w, http.StatusOK, "ok, but the disk is nearly full: nothing can be added\n")
	default:
		health(w, http.StatusOK, "ok\n")
	}
}

// reason is what anybody may know of a disk that cannot be written.
func reason(err error) string {
	stuck, _ := errors.AsType[*shard.StuckError](err)
	return "the disk cannot be written: " + stuck.Reason + "\n"
}

func health(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text) // a client that has gone needs no answer
}
