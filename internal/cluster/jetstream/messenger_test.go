package jetstream

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/messenger"
	"github.com/sluicemq/sluice/internal/cluster/messenger/messengertest"
	"github.com/sluicemq/sluice/internal/tool/wait"
)

// messenger opens the messenger of a node at one of the servers.
func (c *cluster) messenger(t *testing.T, i int, node string) *Messenger {
	t.Helper()
	m, err := c.conns[i].Messenger(node)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// meet waits until one node knows another: interest spreads at its own pace.
func meet(t *testing.T, from messenger.Messenger, to *Messenger, node string) {
	t.Helper()
	to.Handle("meet", func(context.Context, []byte) ([]byte, error) { return nil, nil })
	ctx := testContext(t)
	for {
		_, err := from.Request(ctx, node, "meet", nil)
		if err == nil {
			return
		}
		if !errors.Is(err, messenger.ErrNotTaken) || wait.For(ctx, 5*time.Millisecond) != nil {
			t.Fatal(err)
		}
	}
}

func TestMessenger(t *testing.T) {
	c := newCluster(t, 2, nil)
	messengertest.Test(t, func(t *testing.T) (messenger.Messenger, messenger.Messenger) {
		a, b := c.messenger(t, 0, "a"), c.messenger(t, 1, "b")
		meet(t, a, b, "b")
		meet(t, b, a, "a")
		return a, b
	})
}

// The messenger knows that a node has gone. A node that goes during a request may have executed it.
func TestMessengerNodeGoes(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, nil)
	ctx := testContext(t)
	a, b := c.messenger(t, 0, "a"), c.messenger(t, 1, "b")
	meet(t, a, b, "b")
	entered := make(chan struct{})
	b.Handle("wait", func(ctx context.Context, _ []byte) ([]byte, error) {
		close(entered)
		<-ctx.Done()
		return nil, nil
	})
	short, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		_, err := a.Request(short, "b", "wait", nil)
		failed <- err
	}()
	<-entered
	c.kill(1)
	if err := <-failed; err == nil || errors.Is(err, messenger.ErrNotTaken) {
		t.Errorf("a request under way when its node dies returns %v", err)
	}
	for {
		_, err := a.Request(ctx, "b", "meet", nil)
		if errors.Is(err, messenger.ErrNotTaken) {
			break
		}
		if ctx.Err() != nil {
			t.Fatalf("a request to a dead node returns %v", err)
		}
	}
	b.Close()
}
