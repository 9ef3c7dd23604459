package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/internal/api/admin"
	"github.com/sluicemq/sluice/internal/api/cloudtrail"
	"github.com/sluicemq/sluice/internal/api/cloudwatch"
	"github.com/sluicemq/sluice/internal/api/iam"
	"github.com/sluicemq/sluice/internal/api/inspect"
	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/api/signin"
	"github.com/sluicemq/sluice/internal/api/sns"
	"github.com/sluicemq/sluice/internal/api/sqs"
	"github.com/sluicemq/sluice/internal/api/sts"
	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/auth/login"
	"github.com/sluicemq/sluice/internal/auth/openid"
	"github.com/sluicemq/sluice/internal/auth/session"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/front"
	"github.com/sluicemq/sluice/internal/idle"
	"github.com/sluicemq/sluice/internal/keypair"
	"github.com/sluicemq/sluice/internal/observe/budget"
	"github.com/sluicemq/sluice/internal/observe/consumers"
	"github.com/sluicemq/sluice/internal/observe/monitor"
	"github.com/sluicemq/sluice/internal/observe/prom"
	"github.com/sluicemq/sluice/internal/observe/queueseries"
	"github.com/sluicemq/sluice/internal/observe/trail"
	"github.com/sluicemq/sluice/internal/observe/trails"
	"github.com/sluicemq/sluice/internal/observe/trails/bucket"
	"github.com/sluicemq/sluice/internal/observe/trails/spool"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/tenant"
	"github.com/sluicemq/sluice/internal/topic"
	"github.com/sluicemq/sluice/internal/topic/delivery"
	"github.com/sluicemq/sluice/internal/topic/egress"
	"github.com/sluicemq/sluice/internal/topic/signing"
)

// How long requests under way may take when the server is stopped, or when the
// disk has failed.
const (
	stopTimeout = 30 * time.Second
	failTimeout = 3 * time.Second
)

// Names in the data directory.
const (
	ControlDir      = datadir.ControlDir
	ShardDir        = datadir.ShardsDir + "/0001"
	CredentialsFile = datadir.CredentialsFile
	MasterKeyFile   = datadir.MasterKeyFile
)

// Server is a running Sluice.
type Server struct {
	config       Config
	log          *slog.Logger
	deadLetters  deadLetterLog
	credentials  *identity.Credentials
	operators    *admin.Authorizer // who may administer the server
	consumers    *consumers.Log    // who receives, through this server
	vault        *identity.Vault
	directory    *directory.Directory
	signing      *signing.Keys // of messages of topics
	topics       *topic.Topics
	logins       *login.Logins     // passwords of users
	sessions     *session.Sessions // of people who use the console
	openID       *openid.Provider  // that people can sign in by; nil: there is none
	signIn       *signin.Service
	monitor      *monitor.Monitor
	evaluator    *monitor.Evaluator // of alarms
	deliverer    *delivery.Deliverer
	publisher    *sns.Service // what the deliverer asks, once the server is prepared
	disk         *store.Disk
	space        *space
	cache        *store.Cache
	control      *control.Control
	node         Node
	tenants      atomic.Pointer[tenant.Tenants]  // nil until they are loaded
	catalog      atomic.Pointer[catalog.Catalog] // nil until it is loaded
	messages     Messages
	series       *queueseries.Reader
	history      *budget.Budget // of what is asked of metrics and events
	totals       shard.Totals
	listener     net.Listener
	certificate  *keypair.Pair // nil: plain HTTP
	front        *front.Front
	prepared     chan struct{} // closed when there is a front
	begun        bool          // see noteStart
	answering    atomic.Bool   // from Run until it stops: clients are answered
	http         *http.Server
	backups      *backups
	reports      *reports
	started      time.Time
	trail        *trail.Trail
	trails       *trails.Trails
	buckets      bucket.Store // of trails; nil: there are none
	bucketOwners bucket.Owners
	spool        *spool.Spool // of data events
	deliveries   *trails.Deliverer
	sweeper      *idle.Sweeper // of queues that nobody uses
	metrics      *prom.Metrics
	metricsHTTP  *metricsServer // nil: they are not served
	proxies      front.Proxies
	egress       *egress.Rules // where the server may connect to for its users

	topicsCounted atomic.Bool // see countsTopics
	required      struct {
		sync.Mutex
		format int // the data directory has at least this one
	}
}

// Start opens the stores and begins to listen. The caller then calls Run.
func Start(c Config) (_ *Server, err error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{config: c, log: c.Logger, deadLetters: deadLetterLog{log: c.Logger}, started: c.Now(), backups: newBackups(), reports: newReports(), history: newHistory(), prepared: make(chan struct{})}
	if s.proxies, err = front.ParseProxies(c.TrustedProxies); err != nil {
		return nil, err
	}
	if s.egress, err = egress.Parse(c.EgressAllow); err != nil {
		return nil, err
	}
	if s.deliverer, err = s.newDeliverer(); err != nil {
		return nil, err
	}
	places, err := c.connections(openFiles())
	if err != nil {
		return nil, err
	}
	limits := front.DefaultLimits(places)
	if c.limits != nil {
		c.limits(&limits)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	l, err := c.listen()
	if err != nil {
		return nil, fmt.Errorf("--listen %s: %w", c.Listen, err)
	}
	s.listener = l
	if err := s.openMetrics(); err != nil {
		return nil, err
	}
	if err := s.openDisk(); err != nil {
		return nil, err
	}
	certificates, err := s.openCertificate()
	if err != nil {
		return nil, err
	}
	if err := s.openNode(func() *front.StartupResponder {
		return front.RespondAtStartup(l, certificates, limits, s.log)
	}); err != nil {
		return nil, err
	}
	began := time.Now()
	cat, err := s.load()
	if err != nil {
		return nil, err
	}
	s.noteStart(time.Since(began))
	s.series = s.newSeries(cat)
	s.sweeper = s.newSweeper(cat)
	s.backups.queues = func() int { return len(cat.All()) }
	if err := s.sweep(); err != nil {
		return nil, err
	}
	s.space.look()
	s.consumers = consumers.New()
	cat.OnChange(s.forgetConsumers)
	permissions := access.New(s.directory)
	queues := sqs.New(sqs.Options{
		Catalog: cat, Shard: s.messages, Access: permissions, IDOf: s.directory.ID, Now: c.Now, Room: s.room,
		PublicURL: strings.TrimRight(c.PublicURL, "/"), MaxMessageSize: c.MaxMessageSize, MaxQueues: c.MaxQueues,
		Consumers: s.consumers, Tenants: s.tenants.Load(), Log: s.log,
		EarlierHandles: func() bool { return s.node.Reads(formats.Handles) != nil },
	})
	topics := s.newSNS(cat, permissions)
	metrics := s.newCloudWatch(s.publisher, permissions)
	rules := service.Services{sqs.Rules, sns.Rules, cloudtrail.Rules(), cloudwatch.Rules(), admin.Rules, iam.Rules(), sts.Rules()}
	users := iam.New(iam.Options{
		Directory: s.directory, Access: permissions, Roots: s.credentials, Logins: s.logins, Now: c.Now, Log: s.log, Services: rules,
	})
	tokens := sts.New(sts.Options{
		Directory: s.directory, Access: permissions, Roots: s.credentials, Vault: s.vault, Now: c.Now,
		WebKeys: openid.NewKeys(s.egress.DialContext, c.Now),
	})
	s.operators = admin.NewAuthorizer(permissions, c.Accounts[0], c.Now)
	accounts := admin.New(admin.Options{
		Accounts: s.credentials, Authorizer: s.operators, Named: c.Accounts, Directory: s.directory, Queues: cat.Owned, Topics: s.topics.Owned, Cluster: s.node,
		Status: s.status, LogLevel: c.LogLevel, Tenants: s.tenants.Load(), Subscriptions: s.topics.CountSubscriptions,
	})
	own := service.NewAuthorizer(permissions, admin.Rules, c.Now)
	inspect.Register(accounts, inspect.Options{
		Catalog: cat, Shard: s.messages, Authorizer: own,
		Access: permissions, Directory: s.directory, Services: rules, Consumers: s.consumersOf,
		Messages: service.NewAuthorizer(permissions, sqs.Rules, c.Now), CheckAttributes: sqs.CheckAttributes, Room: s.room, Ready: s.redriveReady,
		PublicURL: strings.TrimRight(c.PublicURL, "/"),
	})
	s.signIn = s.newSignIn()
	s.signIn.Register(accounts, own)
	audit := s.newCloudTrail(permissions)
	services := []*protocol.Service{queues, topics, metrics, users, tokens, audit, accounts}
	s.measure(services)
	s.front = front.New(front.Options{
		Services: services, Streams: []front.Stream{s.backupStream()},
		Certificate: s.signing.Certificate,
		Console:     c.Console.pages(),
		SignIn:      s.signIn,
		Keys:        front.Keys{Roots: s.credentials, Sessions: s.vault, Directory: s.directory, Browsers: s.sessions},
		Store:       s.control, Node: s.node,
		Region: c.Region, PublicURL: c.PublicURL, Proxies: s.proxies, Now: c.Now, Limits: limits,
		NoSignatureV2: c.NoSignatureV2,
		NoteFiles:     s.deliveries.Note,
		Tenants:       s.tenants.Load(),
		Trail:         s.trail, Health: s.health(), Metrics: s.metrics.Requests, Spans: s.config.Spans, Log: s.log, LogRequests: c.LogRequests, Version: c.Version,
	})
	close(s.prepared)
	s.http = front.NewServer(s.front, limits, s.log)
	s.http.RegisterOnShutdown(s.backups.stop)
	s.http.TLSConfig = certificates
	// Room is made by closing connections that are only kept for later, or on which nothing has come yet.
	s.listener = front.LimitConnections(l, places, func(room bool) { s.http.SetKeepAlivesEnabled(!room) }, s.log)
	return s, nil
}

// ServeHandler serves any handler on the HTTP stack that Sluice itself uses,
// until ctx ends. It calls ready with its URL. With it, a benchmark finds out
// how much of the time is HTTP's.
func ServeHandler(ctx context.Context, addr string, h http.Handler, ready func(endpoint string)) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	s := front.NewServer(h, front.DefaultLimits(DefaultConnections), slog.New(slog.DiscardHandler))
	defer context.AfterFunc(ctx, func() { _ = s.Close() })() // Serve says why it ends
	ready("http://" + l.Addr().String())
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// openDisk prepares the disk and the data directory.
func (s *Server) openDisk() error {
	s.cache = store.NewCache(store.DefaultCacheSize)
	switch {
	case s.config.disk != nil:
		s.disk = s.config.disk
	case s.config.InMemory:
		s.disk = store.NewMemoryDisk(s.log)
	default:
		s.disk = store.NewDisk(nil, s.log)
	}
	s.space = &space{
		free: func() (uint64, uint64, error) { return s.disk.Free(s.config.Data) },
		mark: s.config.MinFreeSpace, log: s.log,
		reclaim: func() error { return s.node.Reclaim() },
	}
	if s.config.InMemory {
		s.space.mark = 0
		return nil
	}
	return datadir.Prepare(s.config.Data)
}

// openNode opens the node of this machine. In a cluster that takes until enough of the
// others are there; meanwhile respond answers the clients.
func (s *Server) openNode(respond func() *front.StartupResponder) error {
	if s.config.Join != nil {
		waiting := respond()
		return errors.Join(s.join(waiting), waiting.End())
	}
	options := store.Options{Disk: s.disk, Cache: s.cache, Logger: s.log}
	single, err := openAlone(s.config.Data, options, s.require, s.initialise, s.config.Keep)
	if err != nil {
		return err
	}
	single.totals, single.watch = &s.totals, s.watch
	s.node = single
	return nil
}

// load reads what is in the control store, and begins to serve messages.
func (s *Server) load() (*catalog.Catalog, error) {
	s.control = s.node.Control()
	s.trail = trail.New(trail.Options{Control: s.control, Now: s.config.Now, Log: s.log})
	var c *catalog.Catalog
	var m Messages
	// That may write, which a disk that is blocked must not keep from failing.
	err := s.disk.Guard(func() (err error) {
		if c, err = s.loadControl(); err != nil {
			return err
		}
		m, err = s.node.Serve(c, s.deliver)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.messages = m
	return c, nil
}

func (s *Server) loadControl() (c *catalog.Catalog, err error) {
	if err := s.openKeys(); err != nil {
		return nil, err
	}
	if s.directory, err = directory.Open(s.control, s.vault); err != nil {
		return nil, err
	}
	if err := s.openSessions(); err != nil {
		return nil, err
	}
	if s.signing, err = signing.Open(s.control, s.vault); err != nil {
		return nil, err
	}
	if err := s.openMonitor(); err != nil {
		return nil, err
	}
	if err := s.openTrails(); err != nil {
		return nil, err
	}
	if err := s.openTopics(); err != nil {
		return nil, err
	}
	if err := s.openTenants(); err != nil {
		return nil, err
	}
	c, err = catalog.Open(catalog.Options{
		Control: s.control, Formats: s.formats(), NoCoolDowns: s.config.NoCoolDowns, Place: s.node.Place,
	})
	if err != nil {
		return nil, err
	}
	s.topics.Use(c)
	s.catalog.Store(c)
	return c, nil
}

// require writes down which format the data directory needs.
func (s *Server) require(format int) error {
	if s.config.InMemory {
		return nil
	}
	s.required.Lock()
	defer s.required.Unlock()
	if s.required.format >= format {
		return nil
	}
	if err := datadir.Require(s.config.Data, format, s.config.Version); err != nil {
		return err
	}
	s.required.format = format
	return nil
}

// room returns an error if nothing must be added to what is stored.
func (s *Server) room() error {
	if s.node.Low() {
		return errLowSpace
	}
	return s.space.room()
}

// probe finds out whether requests would be served.
func (s *Server) probe(ctx context.Context) error {
	if err := s.node.Current(); err != nil {
		return err
	}
	return s.messages.Probe(ctx)
}

// Endpoint is the URL to give to clients.
func (s *Server) Endpoint() string { return s.endpointAt(s.listener.Addr()) }

func (s *Server) endpointAt(addr net.Addr) string {
	local := "127.0.0.1"
	if s.certificate != nil {
		local = s.certificate.HostOr(local)
	}
	return s.config.endpoint(addr, local)
}

// Handler is what answers requests. With it the program asks the server before Run lets others do so.
func (s *Server) Handler() http.Handler { return s.front }

// Root returns the root credential of the first account.
func (s *Server) Root() identity.Credential {
	cred, _ := s.credentials.Root(s.config.Accounts[0])
	return cred
}

// HasNewRoot reports whether the root key of the first account was made when the server started.
func (s *Server) HasNewRoot() bool {
	return slices.Contains(s.credentials.Made(), s.config.Accounts[0])
}

// Accounts returns the accounts that there are.
func (s *Server) Accounts() []string { return s.credentials.Accounts() }

// Queues returns how many queues there are.
func (s *Server) Queues() int { return s.backups.queues() }

// RootOf returns the root keys of an account.
func (s *Server) RootOf(account string) (identity.Credential, bool) {
	return s.credentials.Root(account)
}

// Run serves until ctx ends. Then it stops in order: no more connections, long
// polls answered with what they have, requests under way finished, their
// commits made, the stores closed. If the disk fails it stops, too, with an error;
// those whose commits cannot be made are told so.
func (s *Server) Run(ctx context.Context) error {
	failed := make(chan error, 1)
	go func() {
		if s.http.TLSConfig != nil {
			failed <- s.http.ServeTLS(s.listener, "", "")
		} else {
			failed <- s.http.Serve(s.listener)
		}
	}()
	s.answering.Store(true)
	watching, stopWatching := context.WithCancel(ctx)
	defer stopWatching()
	var watch sync.WaitGroup
	watch.Go(func() { s.space.watch(watching) })
	watch.Go(func() { s.evaluator.Run(watching) })
	watch.Go(func() { s.metricsHTTP.serve(watching, s.metrics, s.log) })
	watch.Go(func() { s.publisher.Keep(watching, func() bool { return !s.control.Elsewhere() }) })
	rotation := signing.Rotation{Keys: s.signing, Control: s.control, Now: s.config.Now, Log: s.log}
	watch.Go(func() { rotation.Run(watching) })
	watch.Go(func() { s.trail.Keep(watching, s.front.SendEvents) })
	watch.Go(func() { s.spool.Run(watching, s.config.Now) })
	watch.Go(func() { s.deliveries.Run(watching) })
	watch.Go(func() { s.sweeper.Run(watching) })
	watch.Go(func() { s.tenants.Load().Run(watching) })
	watch.Go(func() {
		if err := s.directory.KeepUses(watching, s.front.SendUses); err != nil {
			s.log.Warn("when access keys were used last is not kept", "error", err)
		}
	})
	var err error
	timeout := stopTimeout
	select {
	case err = <-failed:
		err = fmt.Errorf("serve: %w", err)
	case <-s.disk.Lifetime().Blocked():
		timeout = failTimeout
		s.log.Error("stopping, to read the data anew at the next start")
	case <-s.node.Failed():
		timeout = failTimeout
		err = s.node.Err()
	case <-ctx.Done():
		s.log.Info("stopping")
	}
	s.answering.Store(false)
	stopWatching()
	s.messages.Drain()
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	if stopErr := s.http.Shutdown(stop); stopErr != nil {
		err = errors.Join(err, fmt.Errorf("requests were still under way after %s: %w", timeout, stopErr), s.http.Close())
	}
	_ = s.disk.Guard(func() error { // close says so
		watch.Wait()
		s.trail.Write(stop, s.front.SendEvents) // of the last requests
		if err := s.spool.Flush(s.config.Now()); err != nil {
			s.log.Warn("data events could not be written", "error", err)
		}
		return nil
	})
	if err = errors.Join(err, s.close()); err == nil {
		err = s.noteStop()
	}
	s.log.Info("stopped")
	return err
}

// close closes what has been opened, in reverse order.
func (s *Server) close() error {
	errs := []error{s.metricsHTTP.close()}
	if s.node != nil {
		err := closeNode(s.node)
		if errors.Is(err, errNodeStuck) {
			return errors.Join(errs[0], err) // it still uses all the rest
		}
		errs = append(errs, err)
	}
	if s.disk != nil {
		errs = append(errs, s.disk.Lifetime().Err())
	}
	if s.cache != nil {
		s.cache.Close()
	}
	return errors.Join(errs...)
}
