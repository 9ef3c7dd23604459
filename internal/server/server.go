package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/front"
	"github.com/sluicemq/sluice/internal/front/http1"
	"github.com/sluicemq/sluice/internal/shard"
)

// Names in the data directory.
const (
	ControlDir      = datadir.ControlDir
	ShardDir        = datadir.ShardsDir + "/0001"
	CredentialsFile = datadir.CredentialsFile
	MasterKeyFile   = datadir.MasterKeyFile
)

// Each request and each message has a random id. The ids come from a pool, because reading the system's generator for
// each id costs a call and memory. They are unique, and no secret depends on them.
func init() { uuid.EnableRandPool() }

// Server is a running Sluice: an assembly of wings. Only the Server knows all of them. A wing knows those passed to its
// constructor.
type Server struct {
	config         *Config
	log            *slog.Logger
	peers          *peers
	entrance       *entrance
	exposition     *exposition
	storage        *storage
	secrecy        *secrecy
	accounts       *accounts
	topics         *topics
	monitoring     *monitoring
	audit          *audit
	queues         *queues
	administration *administration
	console        *webConsole
}

// Start opens the stores and begins to listen. The caller must then call Run.
func Start(c Config) (_ *Server, err error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{config: &c, log: c.Logger, peers: newPeers(c.Logger), administration: newAdministration(&c)}
	for _, step := range []func() error{s.open, s.read, s.assemble} {
		if err := step(); err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	return s, nil
}

// open opens the external resources: addresses, the disk, and this machine's node. In a cluster it waits until enough
// of the other nodes are present.
func (s *Server) open() (err error) {
	if s.topics, err = newTopics(s.config, s.peers.prepared); err != nil {
		return err
	}
	if s.entrance, err = openEntrance(s.config); err != nil {
		return err
	}
	if s.exposition, err = openExposition(s.config); err != nil {
		return err
	}
	if s.storage, err = openStorage(s.config); err != nil {
		return err
	}
	return s.storage.openNode(s.peers, s.entrance)
}

// read reads the control store, and starts serving messages. Both may write. A blocked disk must make the start fail:
// then load blocks forever, and its results are ignored.
func (s *Server) read() error {
	began := time.Now()
	if err := s.storage.disk.Guard(s.load); err != nil {
		return err
	}
	s.storage.noteStart(time.Since(began))
	return nil
}

func (s *Server) load() (err error) {
	c, st := s.config, s.storage
	if s.accounts, err = openAccounts(c, st, s.peers); err != nil {
		return err
	}
	if s.monitoring, err = openMonitoring(c, st); err != nil {
		return err
	}
	if s.audit, err = openAudit(c, st, s.accounts.vault, s.peers); err != nil {
		return err
	}
	if err := s.topics.open(st, s.accounts.vault); err != nil {
		return err
	}
	if s.secrecy, err = openSecrecy(c, st, s.topics.records); err != nil {
		return err
	}
	queues, err := st.openCatalog()
	if err != nil {
		return err
	}
	s.topics.records.Use(queues)
	return st.serve(s.secrecy, func(ctx context.Context, from *shard.Shard) {
		s.topics.deliver(ctx, s.secrecy.source(from))
	})
}

// assemble creates the services from the records, and the front that answers clients with them.
func (s *Server) assemble() error {
	c, st := s.config, s.storage
	s.queues = newQueues(c, st, s.topics, s.monitoring, s.audit)
	s.console = newConsole(c, s.accounts, s.audit.trail)
	if err := s.administration.open(st, s.accounts, s.queues, s.topics, s.monitoring, s.audit, s.secrecy); err != nil {
		return err
	}
	st.space.look()
	services := s.services()
	s.exposition.expose(st, s.accounts, s.topics)
	s.exposition.measure(services, s.measured())
	f := front.New(s.frontOptions(services))
	s.entrance.open(f, s.administration.backups.stop)
	s.peers.prepare(f, s.administration, s.secrecy.ids)
	return nil
}

// measured returns the wings that have metrics for Prometheus.
func (s *Server) measured() []measured {
	return []measured{s.storage, s.secrecy, s.accounts, s.topics, s.queues, s.audit, s.entrance, s.administration}
}

// services returns the services for clients. A request that does not name a service is for the first one.
func (s *Server) services() []*protocol.Service {
	history := newHistory()
	sqs := s.queues.newSQS(s.accounts, s.secrecy)
	sns := s.topics.newSNS(s.accounts, s.secrecy, s.entrance.endpoint)
	own := s.administration.newAdmin()
	s.console.register(own)
	return []*protocol.Service{
		sqs, sns,
		s.monitoring.newCloudWatch(s.topics.publisher, s.accounts.permissions, history),
		s.accounts.newIAM(),
		s.accounts.newSTS(s.topics.egress),
		s.audit.newCloudTrail(s.topics.publisher, s.accounts.permissions, history),
		own,
	}
}

// frontOptions collects the front's parts from the wings.
func (s *Server) frontOptions(services []*protocol.Service) front.Options {
	c, st := s.config, s.storage
	return front.Options{
		Services: services, Streams: []front.Stream{s.administration.backups.stream(s.administration.operators)},
		Certificate: s.topics.signing.Certificate,
		Console:     s.console.pages, SignIn: signInHandler{s.console.signIn},
		Keys: s.accounts.keys(), Tenants: s.accounts.tenants, Store: st.control, Node: st.node, Health: st.health(),
		Region: c.Region, PublicURL: c.PublicURL, Proxies: s.entrance.proxies, Now: c.Now, Limits: s.entrance.limits,
		NoSignatureV2: c.NoSignatureV2, NoteFiles: s.audit.deliveries.Note, Trail: s.audit.trail,
		Metrics: s.exposition.metrics.Requests, Spans: c.Spans, Log: s.log, LogRequests: c.LogRequests,
		Version: c.Version,
	}
}

// Endpoint is the server's URL for clients.
func (s *Server) Endpoint() string { return s.entrance.endpoint() }

// Handler answers requests. With it, the program can query the server before Run admits clients.
func (s *Server) Handler() http.Handler { return s.entrance.front }

// Root returns the root credential of the first account.
func (s *Server) Root() identity.Credential { return s.accounts.root() }

// HasNewRoot reports whether this start created the root key of the first account.
func (s *Server) HasNewRoot() bool { return s.accounts.hasNewRoot() }

// Accounts returns all accounts.
func (s *Server) Accounts() []string { return s.accounts.credentials.Accounts() }

// RootOf returns the root keys of an account.
func (s *Server) RootOf(account string) (identity.Credential, bool) {
	return s.accounts.credentials.Root(account)
}

// Queues returns the number of queues.
func (s *Server) Queues() int { return s.storage.queues() }

// SignInLink returns a URL that signs the root of the first account in to the console, once and within some minutes.
func (s *Server) SignInLink(ctx context.Context) (string, error) {
	return s.console.link(ctx, s.Endpoint())
}

// Reload reads the TLS certificate again, and sets whether requests are logged from now on. It never ends the server:
// if the certificate cannot be read, the previous one stays, and a line in the log reports it.
func (s *Server) Reload(logRequests bool) {
	s.entrance.front.LogRequests(logRequests)
	s.entrance.reload()
}

// ServeHandler serves any handler on Sluice's HTTP stack until ctx ends. It calls ready with its URL. A benchmark uses
// it to measure the cost of HTTP itself.
func ServeHandler(ctx context.Context, addr string, h http.Handler, ready func(endpoint string)) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	all := front.NewServer(h, front.DefaultLimits(DefaultConnections), slog.New(slog.DiscardHandler))
	s := http1.New(all, front.MaxBody, func(string) bool { return true })
	defer context.AfterFunc(ctx, func() { _ = s.Close() })() // Serve returns the reason
	ready("http://" + l.Addr().String())
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
