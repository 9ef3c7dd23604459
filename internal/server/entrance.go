package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/sluicemq/sluice/internal/front"
	"github.com/sluicemq/sluice/internal/front/http1"
	"github.com/sluicemq/sluice/internal/observe/prom"
	"github.com/sluicemq/sluice/internal/tool/keypair"
)

// entrance is the wing of the address for clients.
type entrance struct {
	config      *Config
	log         *slog.Logger
	socket      *net.TCPListener
	listener    net.Listener  // socket, with a limit of connections; nil until open
	certificate *keypair.Pair // nil: plain HTTP
	tls         *tls.Config   // nil: plain HTTP
	limits      front.Limits
	places      int // for connections
	proxies     front.Proxies

	front *front.Front  // nil until open
	http  *http.Server  // has the handler and the limits
	plain *http1.Server // accepts connections without TLS, and passes those that it does not read itself to http
}

// openEntrance begins to listen. It accepts no connections yet.
func openEntrance(c *Config) (_ *entrance, err error) {
	e := &entrance{config: c, log: c.Logger}
	if e.proxies, err = front.ParseProxies(c.TrustedProxies); err != nil {
		return nil, err
	}
	if e.places, err = c.connections(openFiles()); err != nil {
		return nil, err
	}
	e.limits = front.DefaultLimits(e.places)
	if c.limits != nil {
		c.limits(&e.limits)
	}
	if e.socket, err = c.listen(); err != nil {
		return nil, fmt.Errorf("--listen %s: %w", c.Listen, err)
	}
	return e, e.openCertificate()
}

// openCertificate reads the certificate for clients, unless they use plain HTTP. A new certificate takes effect with
// the next connection.
func (e *entrance) openCertificate() error {
	if e.config.TLSCert == "" {
		return nil
	}
	p, err := keypair.Open(e.config.TLSCert, e.config.TLSKey, e.log)
	if err != nil {
		return fmt.Errorf("load TLS certificate: %w", err)
	}
	e.certificate = p
	e.tls = &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.Current(), nil },
	}
	return nil
}

// respondAtStartup refuses clients until the server is prepared.
func (e *entrance) respondAtStartup() *front.StartupResponder {
	limited := front.LimitConnections(e.socket, e.places, e.proxies, func(bool) {}, e.log)
	return front.RespondAtStartup(limited, e.tls, e.limits, e.log)
}

// endpoint is the server's URL for clients.
func (e *entrance) endpoint() string {
	local := "127.0.0.1"
	if e.certificate != nil {
		local = e.certificate.HostOr(local)
	}
	return e.config.endpoint(e.socket.Addr(), local)
}

// open prepares to answer clients with f. It calls stopping when the server begins to stop.
func (e *entrance) open(f *front.Front, stopping func()) {
	e.front, e.http = f, front.NewServer(f, e.limits, e.log)
	e.http.RegisterOnShutdown(stopping)
	e.http.TLSConfig = e.tls
	e.plain = http1.New(e.http, front.MaxBody, f.TakesPlain)
	e.http.ConnState = front.NoteState
	// To make room, the server closes idle connections and connections without a request.
	e.listener = front.LimitConnections(
		e.socket, e.places, e.proxies, func(room bool) { e.plain.SetKeepAlivesEnabled(!room) }, e.log,
	)
}

// reload reads the certificate again. If that fails, the previous one stays, and a line in the log reports it.
func (e *entrance) reload() {
	if e.certificate != nil {
		e.certificate.Reload()
	}
}

// measure adds the metrics of requests in progress.
func (e *entrance) measure(m *prom.Metrics) {
	m.Memory(func() int64 { return e.front.MemoryInUse() })
}

// serve answers clients until stop, or until the listener fails. It always returns an error.
func (e *entrance) serve() error {
	if e.http.TLSConfig != nil {
		return e.http.ServeTLS(e.listener, "", "")
	}
	return e.plain.Serve(e.listener)
}

// stop refuses new requests, and waits for the requests in progress, at most for the given time.
func (e *entrance) stop(ctx context.Context, timeout time.Duration) error {
	if err := e.plain.Shutdown(ctx); err != nil {
		return errors.Join(fmt.Errorf("requests were still in progress after %s: %w", timeout, err), e.plain.Close())
	}
	return nil
}

// close closes the listener, unless stop has.
func (e *entrance) close() error {
	if e == nil || e.socket == nil {
		return nil
	}
	return closeListener(e.socket)
}
