package jetstream

import (
	"testing"
	"time"
)

// When nodes know that a server is gone, the others elect leaders in its place without waiting for NATS to find out.
func TestElect(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, nil)
	ctx := testContext(t)
	log := c.log(0, "1")
	w := &writer{t: t, log: log}
	w.mustAppend(ctx, 5)
	if err := log.Lead(ctx, c.servers[0].Name()); err != nil {
		t.Fatal(err)
	}
	dead := c.servers[0].Name()
	gone := func(server string) bool { return server == dead }
	no := func(string) bool { return false }
	if left := c.servers[1].Elect(no, func(string) time.Duration { return 0 }, time.Hour); left != 0 {
		t.Errorf("with all servers there, %d groups have no leader", left)
	}
	c.kill(0)
	asked := make(map[string]bool)
	left := c.servers[1].Elect(gone, func(log string) time.Duration { asked[log] = true; return time.Hour }, time.Hour)
	if left == 0 || !asked["1"] {
		t.Errorf("%d groups have no leader, and it was asked when to stand for those of %v", left, asked)
	}
	c.servers[1].campaigns.next = make(map[string]campaign)
	for left > 0 {
		left = c.servers[1].Elect(gone, func(string) time.Duration { return 0 }, 2*time.Second)
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	leader, err := c.log(1, "1").Leader(ctx)
	if err != nil || leader == "" || leader == dead {
		t.Errorf("the log is led by %s, %v", leader, err)
	}
}
