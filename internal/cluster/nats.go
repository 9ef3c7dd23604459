package cluster

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/jetstream"
	"github.com/sluicemq/sluice/internal/cluster/messenger"
	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
)

// NATS is the engine on JetStream: a server in this process, or the servers of another operator.
type NATS struct {
	conn     *jetstream.Conn
	server   *jetstream.Server // nil for external servers
	messages *jetstream.Messenger
	replicas int
}

// EmbedNATS starts a server in this process, one of a cluster with the given routes.
func EmbedNATS(ctx context.Context, node string, o jetstream.Options) (*NATS, error) {
	server, err := jetstream.Start(o)
	if err != nil {
		return nil, err
	}
	conn, err := server.Connect(ctx)
	if err != nil {
		server.Stop(ctx)
		return nil, err
	}
	n := &NATS{conn: conn, server: server, replicas: min(copies, max(1, len(o.Routes)))}
	return n, n.listen(node)
}

// ConnectNATS uses external servers. It returns jetstream.ErrLazySync or jetstream.ErrSyncUnknown if it cannot verify
// that they sync acknowledged writes to disk, unless relaxed is set.
func ConnectNATS(ctx context.Context, node string, o jetstream.ConnectOptions, relaxed bool) (*NATS, error) {
	conn, err := jetstream.Connect(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := conn.CheckSync(ctx); err != nil && !relaxed {
		conn.Close()
		return nil, err
	}
	n := &NATS{conn: conn, replicas: copies}
	return n, n.listen(node)
}

func (n *NATS) listen(node string) (err error) {
	n.messages, err = n.conn.Messenger(node)
	return err
}

// Log implements Engine.
func (n *NATS) Log(ctx context.Context, name string) (sharedlog.Log, error) {
	return n.conn.Log(ctx, name, n.replicas)
}

// Leases implements Engine.
func (n *NATS) Leases(ctx context.Context, length time.Duration) (sharedlog.Leases, error) {
	return n.conn.Leases(ctx, length, n.replicas)
}

// LeaseCopies implements Engine.
func (n *NATS) LeaseCopies(ctx context.Context) (complete, wanted int, err error) {
	return n.conn.LeaseCopies(ctx)
}

// Messenger implements Engine.
func (n *NATS) Messenger() messenger.Messenger { return n.messages }

// Lead implements Engine. It does nothing with external servers.
func (n *NATS) Lead(ctx context.Context, log sharedlog.Log, server string) error {
	l, ok := log.(*jetstream.Log)
	if n.server == nil || !ok {
		return nil
	}
	return l.Lead(ctx, server)
}

// Elect implements Engine. External servers elect leaders by their own configuration.
func (n *NATS) Elect(
	gone func(server string) bool, turn func(log string) time.Duration, again time.Duration,
) (left int) {
	if n.server == nil {
		return 0
	}
	return n.server.Elect(gone, turn, again)
}

// Yield implements Engine.
func (n *NATS) Yield(ctx context.Context) {
	if n.server != nil {
		n.server.Yield(ctx)
	}
}

// Copies implements Engine.
func (n *NATS) Copies(ctx context.Context, log sharedlog.Log) (complete, wanted int, err error) {
	l, ok := log.(*jetstream.Log)
	if !ok {
		return 0, 0, errForeign
	}
	complete, wanted, err = l.Copies(ctx)
	if n.server != nil && errors.Is(err, jetstream.ErrNoLeader) { // an external server is not ours to restart
		err = ErrLeaderless
	}
	return complete, wanted, err
}

var errForeign = errors.New("the log is not one of this engine's")

// Reached implements Engine.
func (n *NATS) Reached() map[string]bool {
	nodes := make(map[string]bool)
	if n.server == nil {
		return nodes
	}
	for _, server := range n.server.Connected() {
		if at := strings.LastIndexByte(server, '-'); at > 0 { // see incarnation.server
			nodes[server[:at]] = true
		}
	}
	return nodes
}

// Broken implements Engine. JetStream ends when a write fails, even if only space is missing.
func (n *NATS) Broken() error {
	if n.server != nil && !n.server.Keeps() {
		return errors.New("JetStream has stopped on this node, because its disk could not be written")
	}
	return nil
}

// Forget implements Engine. External servers are removed by their operator.
func (n *NATS) Forget(ctx context.Context, server string) error {
	if n.server == nil {
		return nil
	}
	return n.conn.RemoveMember(ctx, server)
}

// Close implements Engine.
func (n *NATS) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	n.messages.Close()
	n.conn.Close()
	if n.server != nil {
		n.server.Stop(ctx)
	}
	return nil
}
