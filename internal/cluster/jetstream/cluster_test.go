package jetstream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/proof/freeport"
	"github.com/sluicemq/sluice/internal/tool/wait"
)

// A cluster is a number of embedded servers in this process, each with a connection.
type cluster struct {
	t       testing.TB
	options []Options
	logs    []*serverLog // what each server has said
	servers []*Server
	conns   []*Conn
	opened  int
}

// testContext ends with the test, or when it has taken too long.
func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// answered repeats f until it succeeds. A request may be lost while a group elects its leader, and then its outcome is
// unknown: a lease that is then held may be held by the first attempt. A lease that another holder has ends the test.
func answered(ctx context.Context, t *testing.T, what string, f func() error) {
	t.Helper()
	for first := true; ; first = false {
		err := f()
		if err == nil {
			return
		}
		definite := errors.Is(err, sharedlog.ErrLost) || first && errors.Is(err, sharedlog.ErrHeld)
		if definite || wait.For(ctx, 20*time.Millisecond) != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
}

// taken returns a lease that is free.
func taken(ctx context.Context, t *testing.T, l *Leases, name, value string) (held sharedlog.Lease) {
	t.Helper()
	answered(ctx, t, "take the lease "+name, func() (err error) {
		held, err = l.Take(ctx, name, []byte(value))
		return err
	})
	return held
}

// serverLog keeps the warnings and errors of a server, and passes the errors on to the
// test's log.
type serverLog struct {
	t testing.TB

	mu   sync.Mutex
	text strings.Builder
}

func (l *serverLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if strings.Contains(string(p), "level=ERROR") && l.t.Context().Err() == nil {
		l.t.Log(string(p[:len(p)-1]))
	}
	return l.text.Write(p)
}

func (l *serverLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// freeAddresses returns addresses on which no program listens now.
func freeAddresses(t testing.TB, n int) []string {
	t.Helper()
	out, err := freeport.Take(n)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// clusters counts the started clusters.
var clusters atomic.Int64

// newCluster starts n servers. With one, it stands alone. certificates gives each
// server its configuration for TLS; it may be nil.
func newCluster(t testing.TB, n int, certificates func(i int) *tls.Config) *cluster {
	t.Helper()
	name := fmt.Sprint("test", clusters.Add(1)) // so that clusters of concurrent tests never meet
	c := &cluster{t: t, servers: make([]*Server, n), conns: make([]*Conn, n)}
	var routes []string
	if n > 1 {
		routes = freeAddresses(t, n)
	}
	for i := range n {
		said := &serverLog{t: t}
		c.logs = append(c.logs, said)
		o := Options{
			Name:    fmt.Sprint("n", i),
			Cluster: name,
			Dir:     t.TempDir(),
			Routes:  routes,
			Log:     slog.New(slog.NewTextHandler(said, &slog.HandlerOptions{Level: slog.LevelWarn})).With("node", i),
		}
		if n > 1 {
			o.Listen = routes[i]
		}
		if certificates != nil {
			o.TLS = certificates(i)
		}
		o.Insecure = o.TLS == nil
		c.options = append(c.options, o)
		c.start(i)
	}
	t.Cleanup(func() {
		for i := range c.servers {
			c.kill(i)
		}
	})
	return c
}

func (c *cluster) start(i int) {
	c.t.Helper()
	s, err := Start(c.options[i])
	if err != nil {
		c.t.Fatal(err)
	}
	c.servers[i] = s
	if c.conns[i], err = s.Connect(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
}

// kill stops a server without handing anything over.
func (c *cluster) kill(i int) {
	if c.servers[i] == nil {
		return
	}
	c.conns[i].Close()
	c.servers[i].kill()
	c.servers[i] = nil
}

func (c *cluster) replicas() int { return min(len(c.servers), 3) }

// log opens a log as node i sees it.
func (c *cluster) log(i int, name string) *Log {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	l, err := c.conns[i].Log(ctx, name, c.replicas())
	if err != nil {
		c.t.Fatal(err)
	}
	return l
}

// newLog opens a new log on one node after the other.
func (c *cluster) newLog(*testing.T) sharedlog.Log {
	c.opened++
	return c.log(c.opened%len(c.conns), fmt.Sprint("log ", c.opened))
}

// leader returns the server that leads a log.
func (c *cluster) leader(l *Log) int {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	for {
		name, err := l.Leader(ctx)
		if err != nil {
			c.t.Fatal(err)
		}
		for i, s := range c.servers {
			if s != nil && s.Name() == name {
				return i
			}
		}
		if err := wait.For(ctx, 20*time.Millisecond); err != nil {
			c.t.Fatal(err)
		}
	}
}
