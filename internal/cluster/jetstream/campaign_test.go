package jetstream

import (
	"slices"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/tool/wait"
)

// When nodes know that a server is gone, the others elect leaders in its place without waiting for NATS to notice.
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
	for left := 1; left > 0; { // a server that shuts down may already have handed over some groups
		left = c.servers[1].Elect(gone, func(string) time.Duration { return 0 }, 2*time.Second)
		if err := wait.For(ctx, 10*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	leader, err := c.log(1, "1").Leader(ctx)
	if err != nil || leader == "" || leader == dead {
		t.Errorf("the log is led by %s, %v", leader, err)
	}
}

// A server leaves an election to others for its turn, and stands again at growing intervals.
func TestCampaigns(t *testing.T) {
	c := campaigns{next: make(map[string]campaign)}
	turn := func() time.Duration { return 2 * time.Second }
	began := time.Unix(0, 0)
	var at []time.Duration
	for now := time.Duration(0); now < 20*time.Second; now += 100 * time.Millisecond {
		if c.due("group", turn, time.Second, began.Add(now)) {
			at = append(at, now)
		}
	}
	if want := []time.Duration{2 * time.Second, 3 * time.Second, 5 * time.Second, 9 * time.Second,
		17 * time.Second}; !slices.Equal(at, want) {
		t.Errorf("it stands after %v, not after %v", at, want)
	}
	if c.due("group", turn, time.Second, began.Add(time.Hour)) {
		t.Error("at another death it does not wait for its turn")
	}
}
