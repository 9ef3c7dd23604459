package jetstream

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"strconv"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/tool/wait"
)

// MaxPayload is the maximum size of a message of embedded servers, in bytes. An external NATS cluster must accept at
// least as much.
const MaxPayload = 16 << 20

const _ = uint(MaxPayload - sharedlog.MaxRecord - 1<<20) // a record and its headers fit

// Options configures an embedded server.
type Options struct {
	// Name is the name of the server, unique in the cluster. JetStream knows a
	// server by its name: one with an empty directory must come under a new one.
	Name string
	// Cluster is the name of the cluster.
	Cluster string
	// Dir is the directory of the server's data.
	Dir string

	// Listen is the host and port where other servers connect.
	Listen string
	// Routes are the hosts and ports of all servers of the cluster, this one
	// included: their number is how many a new cluster waits for before it makes a
	// majority. Without routes the server stands alone and listens nowhere.
	Routes []string
	// TLS authenticates servers to each other, in both directions: each server presents this certificate, and the
	// certificates of the others must be signed by its RootCAs.
	TLS *tls.Config
	// Insecure allows routes without TLS. Any process that reaches the listener can then
	// read and change everything, on this machine too.
	Insecure bool

	Log *slog.Logger
}

// Limits on the memory of an embedded server. Only the caches of recently written or read blocks stay unlimited. The
// next garbage collection frees them: limit them with Go's memory limit.
const (
	maxStreamBuffer = 64 << 20 // published to a stream and not yet proposed
	maxCatchup      = 32 << 20 // sent to lagging replicas and not yet acknowledged
	maxMemoryStore  = 16 << 20 // for memory streams; there are none
)

// maxStore is so large that only the disk limits the streams. By default, NATS takes three quarters of the streams'
// size and the free space at the start. A server that started while space was short would exceed that limit from then
// on: it would neither lead nor store anything.
const maxStore = 1 << 60

// ErrOpen reports that servers would accept any process as one of them.
var ErrOpen = errors.New(
	"nodes need a secret or certificates to know each other by: give --cluster-secret-file, or --cluster-ca, --cluster-cert and --cluster-key",
)

// A Server is an embedded server.
type Server struct {
	cluster  string
	log      *slog.Logger
	inner    *natsserver.Server
	password string

	campaigns *campaigns
}

// Accounts and users of an embedded server. Only this process can connect to it, with a password drawn at its start.
const (
	dataUser   = "sluice"
	systemUser = "system"
	dataAcct   = "$G"
)

// Start starts a server and returns when it can be connected to, which takes until
// it has looked through its streams. Its cluster may not have a majority yet.
func Start(o Options) (*Server, error) {
	opts, err := o.nats()
	if err != nil {
		return nil, err
	}
	inner, err := natsserver.NewServer(opts)
	if err != nil {
		return nil, fmt.Errorf("start the embedded NATS server: %w", err)
	}
	log := newLogger(o.Log)
	inner.SetLoggerV2(log, false, false, false)
	s := &Server{
		cluster:   o.Cluster,
		log:       o.Log,
		inner:     inner,
		password:  opts.Users[0].Password,
		campaigns: &campaigns{next: make(map[string]campaign)},
	}
	inner.Start()
	if len(opts.Routes) > 0 && len(log.fatal) == 0 {
		startRouting(inner)
	}
	select {
	case err := <-log.fatal:
		inner.Shutdown()
		return nil, fmt.Errorf("start the embedded NATS server: %w", err)
	default:
		return s, nil
	}
}

// startRouting opens the server's listener for routes. The server itself opens
// it only after a listener for clients, and this server has none, so that
// goroutine waits forever. This call does the rest of its work, which a
// shutdown waits for.
func startRouting(inner *natsserver.Server) {
	ready := make(chan struct{})
	close(ready)
	inner.StartRouting(ready)
}

func (o *Options) nats() (*natsserver.Options, error) {
	password := rand.Text()
	system := natsserver.NewAccount(natsserver.DEFAULT_SYSTEM_ACCOUNT)
	opts := &natsserver.Options{
		ServerName: o.Name,
		DontListen: true,
		NoSigs:     true,
		NoLog:      true,
		MaxPayload: MaxPayload,

		JetStream:              true,
		DisableJetStreamBanner: true,
		StoreDir:               o.Dir,
		SyncAlways:             true,
		JetStreamMaxMemory:     maxMemoryStore,
		JetStreamMaxStore:      maxStore,
		StreamMaxBufferedSize:  maxStreamBuffer,
		JetStreamMaxCatchup:    maxCatchup,

		SystemAccount: system.Name,
		Accounts:      []*natsserver.Account{system},
		Users: []*natsserver.User{
			{Username: dataUser, Password: password},
			{Username: systemUser, Password: password, Account: system},
		},
	}
	if len(o.Routes) == 0 {
		return opts, nil
	}

	host, port, err := splitAddress(o.Listen)
	if err != nil {
		return nil, err
	}
	opts.Cluster = natsserver.ClusterOpts{
		Name: o.Cluster,
		Host: host,
		Port: port,
		// A server that hangs is noticed by its routes after about ten seconds, and
		// requests to its node are refused from then on instead of timing out.
		PingInterval: 3 * time.Second,
		MaxPingsOut:  2,
		Compression:  natsserver.CompressionOpts{Mode: natsserver.CompressionOff},
	}
	for _, address := range o.Routes {
		host, port, err := splitAddress(address)
		if err != nil {
			return nil, err
		}
		opts.Routes = append(opts.Routes, &url.URL{Scheme: "nats", Host: net.JoinHostPort(host, strconv.Itoa(port))})
	}
	switch {
	case o.TLS != nil:
		opts.Cluster.TLSConfig, err = mutual(o.TLS)
		if err != nil {
			return nil, err
		}
		opts.Cluster.TLSTimeout = 5
	case !o.Insecure:
		return nil, ErrOpen
	default:
		o.Log.Warn(
			"nodes do not know each other: any process that reaches this address can read and change everything",
			"address",
			o.Listen,
		)
	}
	return opts, nil
}

// mutual makes a configuration one under which both sides of a connection have
// to show a certificate of the cluster's authority.
func mutual(c *tls.Config) (*tls.Config, error) {
	switch {
	case c.RootCAs == nil:
		return nil, errors.New("TLS between nodes needs the certificate of the cluster's own authority")
	case c.InsecureSkipVerify:
		return nil, errors.New("TLS between nodes must verify certificates")
	case len(c.Certificates) == 0 && c.GetCertificate == nil:
		return nil, errors.New("TLS between nodes needs a certificate of this node")
	}
	c = c.Clone()
	c.ClientCAs = c.RootCAs
	c.ClientAuth = tls.RequireAndVerifyClientCert
	c.MinVersion = max(c.MinVersion, tls.VersionTLS12)
	return c, nil
}

func splitAddress(address string) (host string, port int, err error) {
	host, number, err := net.SplitHostPort(address)
	if err == nil {
		port, err = strconv.Atoi(number)
	}
	if err != nil || host == "" || port < 1 || port > 65535 {
		return "", 0, fmt.Errorf("%q is not the address of a node, host:port", address)
	}
	return host, port, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Name returns the name of the server.
func (s *Server) Name() string { return s.inner.Name() }

// Keeps reports whether the server stores streams. After a failed write to its disk it no longer does, until a restart.
func (s *Server) Keeps() bool { return s.inner.JetStreamEnabled() }

// Connected returns the names of the servers to which this one has routes.
func (s *Server) Connected() []string {
	routes, err := s.inner.Routez(nil)
	if err != nil {
		return nil
	}
	var names []string
	for _, r := range routes.Routes {
		if !slices.Contains(names, r.RemoteName) {
			names = append(names, r.RemoteName)
		}
	}
	return names
}

// Connect connects to the server, within this process.
func (s *Server) Connect(ctx context.Context) (*Conn, error) {
	return connect(ctx, s.cluster, s, s.log, nats.InProcessServer(s.inner), nats.UserInfo(dataUser, s.password))
}

// system connects to the server's system account.
func (s *Server) system() (*nats.Conn, error) {
	return nats.Connect("", nats.InProcessServer(s.inner), nats.UserInfo(systemUser, s.password))
}

// Stop stops the server. It first hands its leaderships to other servers, so
// that these need not detect its absence. It waits for the hand-over until ctx
// ends, and stops in any case.
func (s *Server) Stop(ctx context.Context) {
	s.handOver(ctx)
	s.inner.Shutdown()
	s.inner.WaitForShutdown()
}

// handOver gives up leadership of all streams and of the meta group, and waits
// until others have it.
func (s *Server) handOver(ctx context.Context) {
	if !s.inner.JetStreamIsClustered() {
		return
	}
	for s.inner.Running() {
		// A hand-over may fail because the chosen one was not up to date; another is
		// chosen then, or this server again.
		led := s.led()
		for _, stream := range led {
			if err := s.inner.JetStreamStepdownStream(dataAcct, stream); err != nil {
				s.log.Debug("stream not handed over", "stream", stream, "error", err)
			}
		}
		meta := len(led) == 0 && s.inner.JetStreamIsLeader() // last, so as not to delay the streams' moves
		if meta {
			s.stepDownMeta(ctx)
		}
		if len(led) == 0 && !meta {
			return
		}
		if wait.For(ctx, 50*time.Millisecond) != nil {
			return
		}
	}
}

// Yield moves the lead of the leases to another server, as far as possible before ctx ends. The lead of the meta group
// follows when the server closes: without it, servers do not move the leads of logs.
func (s *Server) Yield(ctx context.Context) {
	leases := (&Conn{cluster: s.cluster}).stream(leasesStream)
	for s.inner.Running() && s.inner.JetStreamIsClustered() && s.inner.JetStreamIsStreamLeader(dataAcct, leases) {
		if err := s.inner.JetStreamStepdownStream(dataAcct, leases); err != nil {
			s.log.Debug("leases not handed over", "error", err)
		}
		if wait.For(ctx, 50*time.Millisecond) != nil {
			return
		}
	}
}

// led returns the streams whose leader this server is.
func (s *Server) led() []string {
	info, err := s.inner.Jsz(&natsserver.JSzOptions{Account: dataAcct, Streams: true, StreamLeaderOnly: true})
	if err != nil {
		return nil
	}
	var out []string
	for _, account := range info.AccountDetails {
		for _, stream := range account.Streams {
			if c := stream.Cluster; c != nil && len(c.Replicas) > 0 &&
				s.inner.JetStreamIsStreamLeader(dataAcct, stream.Name) {
				out = append(out, stream.Name)
			}
		}
	}
	return out
}

// kill stops the server without handing anything over; for tests.
func (s *Server) kill() {
	s.inner.Shutdown()
	s.inner.WaitForShutdown()
}
