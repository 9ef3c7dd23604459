package jetstream

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/sluicemq/sluice/internal/cluster/pki"
	"github.com/sluicemq/sluice/internal/tool/wait"
)

func issue(t *testing.T, dir string, names ...string) *tls.Config {
	t.Helper()
	a, _, err := pki.Open(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	certificate, key, err := a.Issue(names, 1, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	c, err := pki.Load(filepath.Join(dir, pki.AuthorityCertificate), certificate, key, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// secret returns the TLS configuration of a server with a secret.
func secret(t *testing.T, text string) *tls.Config {
	t.Helper()
	c, err := pki.FromSecret([]byte(text), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Servers with certificates of one authority form a cluster, and so do servers with one secret. A stranger that knows
// the addresses does not get in, and the servers report its attempts.
func TestStrangersAreRefused(t *testing.T) {
	t.Run("certificates", func(t *testing.T) {
		dir := t.TempDir()
		names := []string{"a", "b", "c"}
		testStrangers(t, func(i int) *tls.Config { return issue(t, dir, names[i], "127.0.0.1") })
	})
	t.Run("secret", func(t *testing.T) {
		testStrangers(t, func(int) *tls.Config { return secret(t, "the secret of this cluster") })
	})
}

func testStrangers(t *testing.T, config func(i int) *tls.Config) {
	t.Parallel()
	c := newCluster(t, 3, config)
	ctx := testContext(t)
	w := &writer{t: t, log: c.log(0, "1")}
	w.mustAppend(ctx, 10)
	w.check(ctx, c.log(2, "1"))

	t.Run("a NATS client", func(t *testing.T) {
		address := c.options[0].Listen
		for _, options := range [][]nats.Option{nil, {nats.Secure(secret(t, "the secret of another one"))}} {
			options = append(options, nats.Timeout(5*time.Second))
			if nc, err := nats.Connect("nats://"+address, options...); err == nil {
				nc.Close()
				t.Errorf("%d options: it is let in", len(options))
			}
		}
		if !strings.Contains(c.logs[0].String(), "TLS route handshake error") {
			t.Errorf("the server says nothing of it: %s", c.logs[0])
		}
	})
	for name, config := range map[string]*tls.Config{
		"with a certificate": issue(t, t.TempDir(), "d", "127.0.0.1"),
		"with a secret":      secret(t, "the secret of another one"),
		"without TLS":        nil,
	} {
		t.Run(name, func(t *testing.T) {
			o := c.options[0]
			o.Name, o.Dir, o.TLS, o.Insecure = "stranger", t.TempDir(), config, config == nil
			o.Listen = freeAddresses(t, 1)[0]
			o.Routes = append([]string{o.Listen}, o.Routes...)
			s, err := Start(o)
			if err != nil {
				t.Fatal(err)
			}
			defer s.kill()
			// The stranger has tried, and will continue.
			if err := wait.For(ctx, 2*time.Second); err != nil {
				t.Fatal(err)
			}
			if n := s.inner.NumRoutes(); n != 0 {
				t.Errorf("it has %d routes", n)
			}
			for i := range 3 {
				if peers := strings.Join(c.servers[i].inner.JetStreamClusterPeers(), " "); strings.Contains(peers,
					"stranger") {
					t.Errorf("it is a peer: %s", peers)
				}
			}
		})
	}
	w.mustAppend(ctx, 10)
}

func TestOptionsRefused(t *testing.T) {
	good := issue(t, t.TempDir(), "a")
	for name, change := range map[string]func(o *Options){
		"other machines without TLS": func(o *Options) {
			o.Routes, o.Insecure = append(o.Routes, "10.0.0.1:6222"),
				false
		},
		"this machine without TLS":  func(o *Options) { o.Insecure = false },
		"TLS without an authority":  func(o *Options) { o.TLS = &tls.Config{Certificates: good.Certificates} },
		"TLS without a certificate": func(o *Options) { o.TLS = &tls.Config{RootCAs: good.RootCAs} },
		"TLS that verifies nothing": func(o *Options) {
			o.TLS = good.Clone()
			o.TLS.InsecureSkipVerify = true // to be refused
		},
		"a route without a port": func(o *Options) { o.Routes = []string{"localhost"} },
		"a route without a host": func(o *Options) { o.Routes = []string{":6222"} },
		"an address that is in use": func(o *Options) {
			s, err := Start(*o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.kill)
			o.Dir = t.TempDir()
		},
	} {
		t.Run(name, func(t *testing.T) {
			addresses := freeAddresses(t, 1)
			o := Options{
				Name: "a", Cluster: "test", Dir: t.TempDir(), Listen: addresses[0], Routes: addresses, Insecure: true,
				Log: slog.New(slog.DiscardHandler),
			}
			change(&o)
			if s, err := Start(o); err == nil {
				s.kill()
				t.Error("it starts")
			}
		})
	}
}

// Embedded servers always sync, according to their own reports.
func TestSyncAlways(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3} {
		c := newCluster(t, n, nil)
		l := c.log(0, "1")
		for i := range n {
			if err := c.conns[i].CheckSync(t.Context()); err != nil {
				t.Error(err)
			}
		}
		info, err := c.conns[0].info(testContext(t), l.stream)
		if err != nil || info.Config.Replicas != n {
			t.Errorf("%+v, %v", info, err)
		}
	}
}

// external starts an external NATS server.
func external(t *testing.T, change func(*natsserver.Options)) *natsserver.Server {
	t.Helper()
	o := &natsserver.Options{
		ServerName: "theirs", Host: "127.0.0.1", Port: -1, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: t.TempDir(), MaxPayload: MaxPayload, SyncAlways: true,
	}
	change(o)
	s, err := natsserver.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(30 * time.Second) {
		t.Fatal("not ready")
	}
	return s
}

func TestConnect(t *testing.T) {
	s := external(t, func(*natsserver.Options) {})
	ctx := testContext(t)
	conn, err := Connect(ctx, ConnectOptions{URL: s.ClientURL(), Cluster: "test", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	l, err := conn.Log(ctx, "1", 1)
	if err != nil {
		t.Fatal(err)
	}
	w := &writer{t: t, log: l}
	w.mustAppend(ctx, 10)
	w.check(ctx, l)
	if err := conn.CheckSync(ctx); !errors.Is(err, ErrSyncUnknown) {
		t.Errorf("no option makes it sync: %v", err)
	}
	if err := conn.RemoveMember(ctx, "theirs"); !errors.Is(err, errNoSystem) {
		t.Errorf("a member is removed without the system account: %v", err)
	}
}

func TestConnectRefused(t *testing.T) {
	small := external(t, func(o *natsserver.Options) { o.MaxPayload = 1 << 20 })
	for name, o := range map[string]ConnectOptions{
		"small messages": {URL: small.ClientURL(), Cluster: "test"},
		"no server":      {URL: "nats://" + freeAddresses(t, 1)[0], Cluster: "test"},
		"a bad name":     {URL: small.ClientURL(), Cluster: "a.b"},
	} {
		o.Log = slog.New(slog.DiscardHandler)
		if c, err := Connect(t.Context(), o); err == nil {
			c.Close()
			t.Errorf("%s: it connects", name)
		}
	}
}

// With the system account, the check sees which servers do not sync.
func TestCheckSyncOfOthers(t *testing.T) {
	t.Parallel()
	for _, lazy := range []bool{false, true} {
		system := natsserver.NewAccount("$SYS")
		s := external(t, func(o *natsserver.Options) {
			o.SyncAlways = !lazy
			o.SystemAccount = system.Name
			o.Accounts = []*natsserver.Account{system}
			o.Users = []*natsserver.User{
				{Username: "system", Password: "p", Account: system},
			}
		})
		nc, err := nats.Connect(s.ClientURL(), nats.UserInfo("system", "p"))
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		err = checkSync(testContext(t), nc)
		if lazy && (!errors.Is(err, ErrLazySync) || !strings.Contains(err.Error(), "theirs")) || !lazy && err != nil {
			t.Errorf("lazy is %v, and the check says %v", lazy, err)
		}
	}
}

// A server that does not return is removed, and another takes its place.
func TestRemoveMember(t *testing.T) {
	c := newCluster(t, 3, nil)
	ctx := testContext(t)
	w := &writer{t: t, log: c.log(0, "1")}
	w.mustAppend(ctx, 5)
	c.kill(2)
	w.mustAppend(ctx, 5)
	for {
		err := c.conns[0].RemoveMember(ctx, "n2")
		if err == nil {
			break
		}
		if wait.For(ctx, 100*time.Millisecond) != nil {
			t.Fatal(err)
		}
	}

	// It has lost its disk, and returns as another server, which gets the replica.
	c.options[2].Name, c.options[2].Dir = "n2-new", t.TempDir()
	c.start(2)
	w.mustAppend(ctx, 5)
	c.complete(ctx, w.log)
	w.check(ctx, c.log(2, "1"))
	c.kill(1) // it counts now
	w.mustAppend(ctx, 5)
	w.check(ctx, c.log(2, "1"))
}

// A short lack of disk space while a server starts does not limit the streams forever.
func TestDiskBoundsStreams(t *testing.T) {
	c := newCluster(t, 1, nil)
	if got := c.servers[0].inner.JetStreamConfig().MaxStore; got != maxStore {
		t.Errorf("streams may have %d bytes", got)
	}
}

// complete waits until all replicas of a log are complete.
func (c *cluster) complete(ctx context.Context, l *Log) {
	c.t.Helper()
	for {
		current, wanted, err := l.Copies(ctx)
		if err == nil && current == 3 && wanted == 3 {
			return
		}
		if wait.For(ctx, 100*time.Millisecond) != nil {
			c.t.Fatalf("%d of %d replicas are current, %v", current, wanted, err)
		}
	}
}

// A server can be removed even if no other server has heard from it since all were restarted.
func TestRemoveUnheardOfMember(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, nil)
	ctx := testContext(t)
	w := &writer{t: t, log: c.log(0, "1")}
	w.mustAppend(ctx, 5)
	if id := c.servers[2].inner.Node(); id != peerID(c.servers[2].Name()) {
		t.Errorf("server %s has the id %s, not %s", c.servers[2].Name(), id, peerID(c.servers[2].Name()))
	}
	c.kill(2)
	c.options[2].Name, c.options[2].Dir = "n2-new", t.TempDir()
	c.start(2)
	w.mustAppend(ctx, 5)
	for i := range 3 {
		c.kill(i)
	}
	for i := range 3 {
		c.start(i)
	}
	w.log = c.log(0, "1")
	for {
		err := c.conns[0].RemoveMember(ctx, "n2")
		if err == nil {
			break
		}
		if wait.For(ctx, 100*time.Millisecond) != nil {
			t.Fatal(err)
		}
	}
	c.complete(ctx, w.log)
	c.kill(1)
	w.mustAppend(ctx, 5)
	w.check(ctx, c.log(2, "1"))
}
