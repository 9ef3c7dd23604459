package command

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/spf13/pflag"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/cluster"
	"github.com/sluicemq/sluice/internal/cluster/jetstream"
	"github.com/sluicemq/sluice/internal/cluster/pki"
	"github.com/sluicemq/sluice/internal/cluster/router"
	"github.com/sluicemq/sluice/internal/server"
	"github.com/sluicemq/sluice/internal/shard"

	"github.com/sluicemq/sluice/internal/datadir"
)

// clusterFlags are the flags of serve that make a server a node of a cluster.
type clusterFlags struct {
	node     string
	name     string
	peers    []string
	listen   string
	ca       string
	cert     string
	key      string
	secret   string
	insecure bool
	// certificate returns the node's certificate, or nil if it has none that expires.
	certificate func() (*x509.Certificate, error)
	shards      int
	spread      int
	memory      int64
	failover    time.Duration

	nats        string
	natsCreds   string
	natsSystem  string
	natsCA      string
	relaxedSync bool
}

// defaultMemory is about three times the need of a busy node. Without a limit, the caches of the logs, which the next
// garbage collection would free, grow to one or two GiB.
const defaultMemory = 1 << 30

func (c *clusterFlags) add(f *pflag.FlagSet) {
	c.memory = defaultMemory
	section(f, "Cluster", c.addCluster)
	section(f, "Cluster on an existing NATS", c.addNATS)
	node := []string{"node", "cluster", "nats"}
	onlyWith(
		f, node, "cluster-name", "shards", "default-spread", "cluster-memory", "cluster-insecure", "failover-timeout",
	)
	onlyWith(f, []string{"node", "cluster"}, "cluster-listen", "cluster-ca", "cluster-cert", "cluster-key")
	notWith(f, "nats", "cluster-listen", "cluster-memory", "failover-timeout")
	onlyWith(f, []string{"nats"}, "nats-creds", "nats-system-creds", "nats-ca", "cluster-relaxed-sync")
	filePath(
		f, "cluster-ca", "cluster-cert", "cluster-key", "cluster-secret-file", "nats-creds", "nats-system-creds",
		"nats-ca",
	)
}

func (c *clusterFlags) addCluster(f *pflag.FlagSet) {
	f.StringVar(&c.node, "node", "", "name of this node of a cluster, such as a")
	f.StringSliceVar(
		&c.peers,
		"cluster",
		nil,
		"all nodes of the cluster, as host:port or name=host:port; the default name is the first label of the host (port: "+cluster.DefaultPort+")",
	)
	f.StringVar(&c.name, "cluster-name", "sluice", "name of the cluster")
	f.StringVar(&c.listen, "cluster-listen", "",
		"host:port to listen on for other nodes (default: this node's in --cluster)")
	f.StringVar(&c.ca, "cluster-ca", "",
		"file with the certificate of the nodes' authority, PEM; see sluice cluster certs")
	f.StringVar(&c.cert, "cluster-cert", "", "file with this node's certificate, PEM")
	f.StringVar(&c.key, "cluster-key", "", "file with the key of that certificate, PEM")
	f.StringVar(
		&c.secret,
		"cluster-secret-file",
		"",
		"file with a secret of all nodes, instead of certificates; the first node of --cluster creates it",
	)
	f.BoolVar(
		&c.insecure,
		"cluster-insecure",
		false,
		"no TLS between nodes, or to --nats on another machine: any process that reaches the port can read and "+
			"change everything",
	)
	f.IntVar(
		&c.shards,
		"shards",
		cluster.DefaultShards,
		fmt.Sprintf("shards of a cluster that does not exist yet, 1 to %d", cluster.MaxShards),
	)
	f.IntVar(
		&c.spread,
		"default-spread",
		1,
		"shards of a queue without the tag "+catalog.TagShards+", standard or FIFO with FifoThroughputLimit=perMessageGroupId",
	)
	f.DurationVar(
		&c.failover,
		"failover-timeout",
		cluster.DefaultFailover,
		fmt.Sprintf(
			"about how long the shards of a dead node have no owner, %s to %s; longer for slow disks, wide networks "+
				"and busy machines",
			cluster.MinFailover,
			cluster.MaxFailover,
		),
	)
	f.Var(
		byteCount{&c.memory},
		"cluster-memory",
		"memory of the process above which caches of logs are dropped, as 2GiB or in bytes; 0 is no limit; "+
			"GOMEMLIMIT takes precedence",
	)
}

func (c *clusterFlags) addNATS(f *pflag.FlagSet) {
	f.StringVar(
		&c.nats,
		"nats",
		"",
		"URL of an existing NATS cluster with JetStream; --cluster then only names the nodes",
	)
	f.StringVar(&c.natsCreds, "nats-creds", "", "file with NATS credentials")
	f.StringVar(&c.natsSystem, "nats-system-creds", "",
		"file with credentials of its system account, to check that it syncs")
	f.StringVar(&c.natsCA, "nats-ca", "", "file with the certificate of the authority of that NATS cluster, PEM")
	f.BoolVar(
		&c.relaxedSync,
		"cluster-relaxed-sync",
		false,
		"accept a NATS cluster that may not sync: acknowledged messages can be LOST when several machines lose power",
	)
}

// mistakes returns the mistakes in the flags, without reading files.
func (c *clusterFlags) mistakes(config *server.Config) error {
	if c.node == "" && len(c.peers) == 0 && c.nats == "" {
		return nil
	}
	_, _, err := c.check(config)
	return err
}

// join makes the server a node when it starts, if the flags say so.
func (c *clusterFlags) join(ctx context.Context, config *server.Config) error {
	if c.node == "" && len(c.peers) == 0 && c.nats == "" {
		return c.refuseClusterData(config)
	}
	peers, own, err := c.check(config)
	if err != nil {
		return usage(err)
	}
	engine, err := c.engine(peers, own, config)
	if err != nil {
		return err
	}
	config.Join = func(p server.NodeEnv) (server.Node, error) {
		node, err := cluster.Join(ctx, cluster.Options{
			Name: c.node, Cluster: c.name, Peers: peers, Dir: config.Data, Shards: c.shards, Spread: c.spread,
			Engine: engine, Found: p.Initialise, Forward: p.Forwarded, Answer: p.Answer, Tell: p.Tell, Hear: p.Hear,
			Disk: p.Disk, Cache: p.Cache,
			Endpoint: p.Endpoint, Low: p.Low, Answers: p.Answers, Version: version(),
			Keep: config.Keep, NoUndo: config.NoUndo,
			Totals: p.Totals, Watch: p.Watch, Cipher: p.Cipher,
			Shift: p.Shift, Waiting: p.Waiting, Certificate: c.certificate, Logs: logs, Loading: loading,
			Logger:   config.Logger,
			Failover: c.failoverTimeout(),
		})
		if err == nil {
			if err = node.Founded(ctx); err != nil {
				err = errors.Join(err, node.Close(ctx))
			}
		}
		if err != nil && ctx.Err() != nil {
			err = errStoppedJoining
		}
		if err != nil {
			return nil, err
		}
		return member{node}, nil
	}
	return nil
}

// failoverTimeout returns the node's failover timeout.
func (c *clusterFlags) failoverTimeout() time.Duration {
	if c.nats != "" {
		return cluster.ExternalFailover
	}
	return c.failover
}

// errStoppedJoining reports that the program was stopped, in order, while it waited for the other nodes.
var errStoppedJoining = errors.New("stopped before the cluster was complete")

// refuseClusterData prevents a single server from using data of which it knows only a part: the data of a node, whose
// cluster has the rest, and that of a restored cluster.
func (c *clusterFlags) refuseClusterData(config *server.Config) error {
	if config.InMemory {
		return nil
	}
	if _, err := os.Stat(filepath.Join(config.Data, datadir.NodeFile)); err == nil {
		return fmt.Errorf(
			"the data directory %s belongs to a node of a cluster: give --node and --cluster as before; to serve its "+
				"data without the others, restore a backup of the cluster into another directory",
			config.Data,
		)
	}
	shards, err := cluster.ShardsIn(config.Data)
	if err == nil && len(shards) > 0 && shards[len(shards)-1] > 1 {
		err = fmt.Errorf(
			"the data directory %s has more than one shard, and is to be served by a cluster, of one node at least: "+
				"give --node and --cluster",
			config.Data,
		)
	}
	return err
}

func (c *clusterFlags) check(config *server.Config) (peers []cluster.Peer, own cluster.Peer, err error) {
	if peers, err = cluster.ParsePeers(c.peers); err != nil {
		return nil, own, fmt.Errorf("--cluster: %w", err)
	}
	for _, p := range peers {
		if p.Name == c.node {
			own = p
		}
	}
	var wrong []error
	when := func(is bool, format string, args ...any) {
		if is {
			wrong = append(wrong, fmt.Errorf(format, args...))
		}
	}
	when(c.node == "", "--node: name this node, one of the nodes of --cluster")
	when(c.node != "" && own.Name == "", "--node %s: --cluster names no such node", c.node)
	when(config.InMemory, "--in-memory: a node of a cluster keeps its data")
	when(c.shards < 1 || c.shards > cluster.MaxShards, "--shards %d: want 1 to %d", c.shards, cluster.MaxShards)
	when(c.spread < 1 || c.spread > catalog.MaxSpread, "--default-spread %d: want 1 to %d", c.spread, catalog.MaxSpread)
	when((c.cert == "") != (c.key == "") || (c.ca == "") != (c.cert == ""),
		"--cluster-ca, --cluster-cert and --cluster-key go together")
	if err := cluster.CheckFailover(c.failover); err != nil {
		wrong = append(wrong, fmt.Errorf("--failover-timeout: %w", err))
	}
	certified := c.cert != "" || c.key != "" || c.ca != ""
	when(c.nats != "" && (certified || c.secret != ""),
		"--cluster-cert and --cluster-secret-file are for servers inside the nodes; with --nats give --nats-ca and "+
			"--nats-creds")
	when(c.secret != "" && certified, "--cluster-secret-file and --cluster-cert: nodes know each other by one of them")
	when(
		c.insecure && (c.secret != "" || certified),
		"--cluster-insecure: with --cluster-secret-file or --cluster-cert nodes do know each other",
	)
	if c.nats == "" && len(peers) > 1 && c.secret == "" && !certified && !c.insecure {
		wrong = append(wrong, jetstream.ErrOpen)
	}
	return peers, own, errors.Join(wrong...)
}

// engine returns a function that starts NATS in this process, or connects to external servers.
func (c *clusterFlags) engine(
	peers []cluster.Peer,
	own cluster.Peer,
	config *server.Config,
) (func(context.Context, string) (cluster.Engine, error), error) {
	if c.nats != "" {
		o := jetstream.ConnectOptions{
			URL:               c.nats,
			Credentials:       c.natsCreds,
			SystemCredentials: c.natsSystem,
			Insecure:          c.insecure,
			Cluster:           c.name,
			Log:               config.Logger,
		}
		if c.natsCA != "" {
			pool, err := pki.LoadPool(c.natsCA)
			if err != nil {
				return nil, fmt.Errorf("--nats-ca: %w", err)
			}
			o.TLS = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
		}
		return func(ctx context.Context, server string) (cluster.Engine, error) {
			return cluster.ConnectNATS(ctx, c.node, o, c.relaxedSync)
		}, nil
	}
	o := jetstream.Options{Cluster: c.name, Listen: c.listen, Insecure: c.insecure, Log: config.Logger}
	if o.Listen == "" {
		o.Listen = own.Address
	}
	if len(peers) > 1 {
		for _, p := range peers {
			o.Routes = append(o.Routes, p.Address)
		}
	}
	if c.cert != "" {
		var err error
		if o.TLS, err = pki.Load(c.ca, c.cert, c.key, config.Logger); err != nil {
			return nil, fmt.Errorf("--cluster-ca, --cluster-cert, --cluster-key: %w", err)
		}
		if err := checkHost(o.TLS, own); err != nil {
			return nil, fmt.Errorf("--cluster-cert: %w", err)
		}
		c.certificate = func() (*x509.Certificate, error) { return pki.Own(o.TLS) }
	}
	if c.memory > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(c.memory)
	}
	return func(ctx context.Context, server string) (cluster.Engine, error) {
		if c.secret != "" {
			var err error
			if o.TLS, err = c.shareSecret(ctx, peers[0].Name, config.Logger); err != nil {
				return nil, fmt.Errorf("--cluster-secret-file: %w", err)
			}
		}
		o.Name, o.Dir = server, filepath.Join(config.Data, datadir.LogDir)
		return cluster.EmbedNATS(ctx, c.node, o)
	}, nil
}

// checkHost checks the certificate of another node. Otherwise that node could not be reached while it connects to the
// others: half of the links would be missing.
func checkHost(config *tls.Config, own cluster.Peer) error {
	certificate, err := pki.Own(config)
	if err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(own.Address)
	if err != nil {
		return err
	}
	if err := certificate.VerifyHostname(host); err != nil {
		return fmt.Errorf("it does not name %s, where the others reach the node %s: is it another node's? %w", host, own.Name, err)
	}
	return nil
}

// shareSecret returns the credentials of nodes with the same secret. The first node of --cluster creates the secret.
func (c *clusterFlags) shareSecret(ctx context.Context, first string, log *slog.Logger) (*tls.Config, error) {
	if c.node == first {
		if err := pki.MakeSecret(c.secret); err != nil {
			return nil, err
		}
	}
	secret, err := pki.AwaitSecret(ctx, c.secret, func() {
		log.Warn("waiting for the cluster's secret: "+
			"copy the file that the first node has created to this node", "file", c.secret, "node", first)
	})
	if err != nil {
		return nil, err
	}
	return pki.FromSecret(secret, time.Now())
}

// member adapts a node for the server.
type member struct{ *cluster.Node }

// Serve implements server.Node.
func (m member) Serve(c *catalog.Catalog, deliver func(context.Context, *shard.Shard)) (server.Messages, error) {
	m.Node.Serve(c, deliver)
	return messages{m.Router(), m.Node}, nil
}

type messages struct {
	*router.Router
	node *cluster.Node
}

// Probe implements server.Messages.
func (m messages) Probe(ctx context.Context) error { return m.node.Probe(ctx) }
