package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/cluster/sharedlog/logtest"
)

func TestLeasesOfOne(t *testing.T) { testLeases(t, 1) }

func TestLeasesOfThree(t *testing.T) { testLeases(t, 3) }

// leaseTTL is longer than any delay on a busy machine.
const leaseTTL = 5 * time.Second

func testLeases(t *testing.T, nodes int) {
	t.Parallel()
	c := newCluster(t, nodes, nil)
	logtest.TestLeases(t, func(t *testing.T) sharedlog.Leases {
		t.Helper()
		c.opened++
		s := *c.servers[c.opened%len(c.servers)]
		s.cluster = fmt.Sprint("test", c.opened) // several share the servers
		conn, err := s.Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(conn.Close)
		l, err := conn.Leases(testContext(t), leaseTTL, c.replicas())
		if err != nil {
			t.Fatal(err)
		}
		if l.TTL() != leaseTTL {
			t.Errorf("leases last for %v", l.TTL())
		}
		// Not all servers may know yet that there is a new stream.
		ctx := testContext(t)
		first := taken(ctx, t, l, "first", "")
		answered(ctx, t, "release", func() error { return first.Release(ctx) })
		return l
	})
}

// After a change with an unknown outcome the lease can be used again, and does not block itself.
func TestLeasesUndecided(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, nil)
	ctx := testContext(t)
	leases, err := c.conns[0].Leases(ctx, time.Minute, 3)
	if err != nil {
		t.Fatal(err)
	}
	held := taken(ctx, t, leases, "held", "0")
	c.kill(1)
	c.kill(2)
	short, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := held.Renew(short, []byte("1")); err == nil || errors.Is(err, sharedlog.ErrLost) {
		t.Errorf("renewed without a majority: %v", err)
	}
	for _, name := range []string{"new", "other"} {
		if _, err := leases.Take(short, name, []byte("1")); err == nil || errors.Is(err, sharedlog.ErrHeld) {
			t.Errorf("taken without a majority: %v", err)
		}
	}
	c.start(1)
	c.start(2)
	answered(ctx, t, "renew", func() error { return held.Renew(ctx, []byte("2")) })
	var fresh sharedlog.Lease
	answered(ctx, t, "take", func() (err error) {
		fresh, err = leases.Take(ctx, "new", []byte("2"))
		if errors.Is(err, sharedlog.ErrHeld) {
			err = errUndecided // this process may have published it itself
		}
		return err
	})
	answered(ctx, t, "renew", func() error { return fresh.Renew(ctx, []byte("3")) })
	answered(ctx, t, "release", func() error { return fresh.Release(ctx) })
	// Changes that this process has not heard of do not let another process in.
	elsewhere, err := c.conns[1].Leases(ctx, time.Minute, 3)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := elsewhere.Take(ctx, "held", nil); !errors.Is(err, sharedlog.ErrHeld) {
		t.Errorf("taken twice: %v", err)
	}
	taken(ctx, t, elsewhere, "new", "")
}

func TestToken(t *testing.T) {
	seen := make(map[string]string)
	for _, name := range []string{"", "a", "A", "shard/1", "shard/11", "shard=2F1", "a.b", "a*b", "a>", "a b", "é", "=",
		"a=", "node/x-1"} {
		tok := token(name)
		if back, err := untoken(tok); err != nil || back != name {
			t.Errorf("%q is %q is %q, %v", name, tok, back, err)
		}
		if strings.ContainsAny(tok, ".*> /") {
			t.Errorf("%q is %q", name, tok)
		}
		if other, ok := seen[tok]; ok {
			t.Errorf("%q and %q are both %q", name, other, tok)
		}
		seen[tok] = name
	}
	for _, bad := range []string{"=", "=2", "=XY", "a=G0"} {
		if got, err := untoken(bad); err == nil {
			t.Errorf("%q is %q", bad, got)
		}
	}
}
