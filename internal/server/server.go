package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/identity"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/sqs"
	"github.com/sluicemq/sluice/internal/store"
)

// Bounds on what one connection can take. The longest answer, to a long poll,
// takes 20 seconds to begin.
const (
	headerTimeout = 10 * time.Second  // to send the header
	readTimeout   = 60 * time.Second  // to send header and body
	writeTimeout  = 120 * time.Second // from the end of the header to the end of the answer
	idleTimeout   = 120 * time.Second
	stopTimeout   = 30 * time.Second // for requests under way when the server is stopped
	maxHeader     = 64 << 10
)

// Names in the data directory.
const (
	controlDir      = "control"     // the catalog
	shardDir        = "shards/0001" // the messages
	credentialsFile = "credentials" // root access keys, in the format of the AWS credentials file
)

// Server is a running Sluice.
type Server struct {
	config      Config
	log         *slog.Logger
	credentials *identity.Credentials
	cache       *store.Cache
	control     *store.Store
	messages    *store.Store
	shard       *shard.Shard
	listener    net.Listener
	http        *http.Server
}

// Start opens the stores and begins to listen. The caller then calls Run.
func Start(c Config) (_ *Server, err error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{config: c, log: c.Logger}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if s.credentials, err = loadCredentials(&c); err != nil {
		return nil, err
	}
	if err := s.openStores(); err != nil {
		return nil, err
	}
	cat, err := catalog.Open(s.control)
	if err != nil {
		return nil, err
	}
	s.shard, err = shard.Open(shard.Options{Store: s.messages, Logger: s.log, Configs: func() []queue.Config {
		var configs []queue.Config
		for _, q := range cat.All() {
			configs = append(configs, q.Config())
		}
		return configs
	}})
	if err != nil {
		return nil, err
	}
	service := sqs.New(sqs.Options{
		Catalog: cat, Shard: s.shard,
		PublicURL: strings.TrimRight(c.PublicURL, "/"), MaxMessageSize: c.MaxMessageSize,
	})
	s.http = newHTTPServer(newHandler(s, service), s.log)
	if c.TLSCert != "" {
		cert, err := tls.LoadX509KeyPair(c.TLSCert, c.TLSKey)
		if err != nil {
			return nil, fmt.Errorf("load TLS certificate: %w", err)
		}
		s.http.TLSConfig = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	}
	if s.listener, err = net.Listen("tcp", c.Listen); err != nil {
		return nil, err
	}
	return s, nil
}

// newHTTPServer returns an HTTP server that no client can hold on to for long.
func newHTTPServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// ServeHandler serves any handler on the HTTP stack that Sluice itself uses,
// until ctx ends. It calls ready with its URL. With it, a benchmark finds out
// how much of the time is HTTP's.
func ServeHandler(ctx context.Context, addr string, h http.Handler, ready func(endpoint string)) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	s := newHTTPServer(h, slog.New(slog.DiscardHandler))
	defer context.AfterFunc(ctx, func() { _ = s.Close() })() // Serve says why it ends
	ready("http://" + l.Addr().String())
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func loadCredentials(c *Config) (*identity.Credentials, error) {
	var creds *identity.Credentials
	var err error
	if c.InMemory {
		creds, err = identity.Generate(c.Accounts)
	} else {
		if err := os.MkdirAll(c.Data, 0o700); err != nil {
			return nil, fmt.Errorf("make data directory: %w", err)
		}
		creds, err = identity.LoadCredentials(filepath.Join(c.Data, credentialsFile), c.Accounts)
	}
	if err == nil && c.RootKeyID != "" {
		err = creds.Override(c.Accounts[0], c.RootKeyID, c.RootSecret)
	}
	return creds, err
}

func (s *Server) openStores() (err error) {
	s.cache = store.NewCache(store.DefaultCacheSize)
	o := store.Options{Cache: s.cache, Logger: s.log}
	open := func(dir string) (*store.Store, error) { return store.Open(filepath.Join(s.config.Data, dir), o) }
	if s.config.InMemory {
		open = func(string) (*store.Store, error) { return store.OpenMemory(o) }
	}
	if s.control, err = open(controlDir); err != nil {
		return err
	}
	s.messages, err = open(shardDir)
	return err
}

// Endpoint is the URL to give to clients.
func (s *Server) Endpoint() string { return s.config.endpoint(s.listener.Addr()) }

// Root returns the root credential of the first account.
func (s *Server) Root() identity.Credential {
	cred, _ := s.credentials.Root(s.config.Accounts[0])
	return cred
}

// Run serves until ctx ends. Then it stops in order: no more connections, long
// polls answered with what they have, requests under way finished, their
// commits made, the stores closed.
func (s *Server) Run(ctx context.Context) error {
	failed := make(chan error, 1)
	go func() {
		if s.http.TLSConfig != nil {
			failed <- s.http.ServeTLS(s.listener, "", "")
		} else {
			failed <- s.http.Serve(s.listener)
		}
	}()
	var err error
	select {
	case err = <-failed:
		err = fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
		s.log.Info("stopping")
	}
	s.shard.Drain()
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if stopErr := s.http.Shutdown(stop); stopErr != nil {
		err = errors.Join(err, fmt.Errorf("requests were still under way after %s: %w", stopTimeout, stopErr), s.http.Close())
	}
	err = errors.Join(err, s.close())
	s.log.Info("stopped")
	return err
}

// close closes what has been opened, in reverse order.
func (s *Server) close() error {
	var errs []error
	if s.shard != nil {
		s.shard.Close()
	}
	closers := []io.Closer{}
	if s.messages != nil {
		closers = append(closers, s.messages)
	}
	if s.control != nil {
		closers = append(closers, s.control)
	}
	for _, c := range closers {
		errs = append(errs, c.Close())
	}
	if s.cache != nil {
		s.cache.Close()
	}
	return errors.Join(errs...)
}
