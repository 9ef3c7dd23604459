package server

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// placeholder answers clients while this node waits for its cluster, so that they go to
// another node at once instead of hanging in the listener's queue.
type placeholder struct {
	listener *net.TCPListener
	http     *http.Server
	over     chan struct{} // closed when no more connections are accepted
	waiting  atomic.Pointer[string]
}

// waitingStop is how long a request that is being refused may hold up the start.
const waitingStop = time.Second

// wait begins to answer on l that the service is not available yet.
func (s *Server) wait(l *net.TCPListener, config *tls.Config) *placeholder {
	w := &placeholder{listener: l, over: make(chan struct{})}
	w.say("waiting for the cluster")
	w.http = newHTTPServer(http.HandlerFunc(w.refuse), s.config.limits, s.log)
	w.http.SetKeepAlivesEnabled(false) // the next request may find the node ready
	if config != nil {
		w.http.TLSConfig = config.Clone() // which it changes
	}
	go func() {
		defer close(w.over)
		// It ends when the listener is not to accept any more, or is closed.
		if config != nil {
			_ = w.http.ServeTLS(lent{l}, "", "")
		} else {
			_ = w.http.Serve(lent{l})
		}
	}()
	return w
}

// end leaves the listener to somebody else.
func (w *placeholder) end() error {
	err := w.listener.SetDeadline(time.Unix(1, 0))
	<-w.over
	ctx, cancel := context.WithTimeout(context.Background(), waitingStop)
	defer cancel()
	if w.http.Shutdown(ctx) != nil {
		_ = w.http.Close() // connections on which nobody says anything
	}
	return errors.Join(err, w.listener.SetDeadline(time.Time{}))
}

// lent is a listener that its server must not close.
type lent struct{ *net.TCPListener }

func (lent) Close() error { return nil }

// Accept is that of net.Listener; http.Server would try again after a timeout.
func (l lent) Accept() (net.Conn, error) {
	c, err := l.AcceptTCP()
	if err != nil {
		return nil, net.ErrClosed
	}
	return c, nil
}

// say changes what is answered to those who ask how this node is.
func (p *placeholder) say(what string) { p.waiting.Store(&what) }

func (p *placeholder) refuse(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		switch r.URL.Path {
		case "/healthz":
			health(w, http.StatusOK, "ok, "+*p.waiting.Load()+"\n")
			return
		case "/readyz":
			health(w, http.StatusServiceUnavailable, *p.waiting.Load()+"\n")
			return
		}
	}
	request, _ := protocol.Recognise(r, nil) // for the protocol of the answer
	w.Header().Set("Retry-After", "1")
	// Who has gone needs no answer.
	_ = protocol.WriteError(w, nil, request, uuid.NewString(), protocol.ServiceUnavailable())
}
