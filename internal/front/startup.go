package front

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// StartupResponder answers clients while this node waits for its cluster, so that they try another node at once instead
// of waiting in the listener's queue.
type StartupResponder struct {
	listener *ConnLimit
	http     *http.Server
	over     chan struct{} // closed when no more connections are accepted
	waiting  atomic.Pointer[string]
}

// startupStop is how long a request that is being refused may delay the start.
const startupStop = time.Second

// RespondAtStartup begins to answer on l that the service is not available yet. Without a TLS configuration it uses
// plain HTTP.
func RespondAtStartup(l *ConnLimit, config *tls.Config, limits Limits, log *slog.Logger) *StartupResponder {
	s := &StartupResponder{listener: l, over: make(chan struct{})}
	s.Say("waiting for the cluster")
	s.http = NewServer(http.HandlerFunc(s.refuse), limits, log)
	s.http.ConnState = NoteState
	s.http.SetKeepAlivesEnabled(false) // the next request may find the node ready
	if config != nil {
		s.http.TLSConfig = config.Clone() // which it changes
	}
	go func() {
		defer close(s.over)
		// It ends when the listener stops accepting, or is closed.
		if config != nil {
			_ = s.http.ServeTLS(sharedListener{l}, "", "")
		} else {
			_ = s.http.Serve(sharedListener{l})
		}
	}()
	return s
}

// End stops answering and leaves the listener open for the server itself.
func (s *StartupResponder) End() error {
	err := s.listener.SetDeadline(time.Unix(1, 0))
	<-s.over
	s.listener.release()
	ctx, cancel := context.WithTimeout(context.Background(), startupStop)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close() // connections without a request
	}
	return errors.Join(err, s.listener.SetDeadline(time.Time{}))
}

// sharedListener is a listener that its HTTP server must not close.
type sharedListener struct{ *ConnLimit }

// Close implements net.Listener.
func (sharedListener) Close() error { return nil }

// Accept implements net.Listener. After a timeout, http.Server would try again: the listener must not be used any more.
func (l sharedListener) Accept() (net.Conn, error) {
	c, err := l.ConnLimit.Accept()
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, net.ErrClosed
	}
	return c, err
}

// Say sets the answer to health checks.
func (s *StartupResponder) Say(what string) { s.waiting.Store(&what) }

func (s *StartupResponder) refuse(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		switch r.URL.Path {
		case "/healthz":
			writeHealth(w, http.StatusOK, "ok, "+*s.waiting.Load())
			return
		case "/readyz":
			writeHealth(w, http.StatusServiceUnavailable, *s.waiting.Load())
			return
		}
	}
	request, _ := protocol.Recognise(r, nil) // for the protocol of the answer
	w.Header().Set("Retry-After", "1")
	// A client that has left needs no answer.
	_ = protocol.WriteError(w, nil, request, uuid.NewString(), protocol.ServiceUnavailable())
}
