package messenger_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/messenger"
	"github.com/sluicemq/sluice/internal/cluster/messenger/messengertest"
)

func TestMemory(t *testing.T) {
	messengertest.Test(t, func(*testing.T) (a, b messenger.Messenger) {
		network := messenger.NewMemory()
		return network.Node("a"), network.Node("b")
	})
}

func TestMemoryCut(t *testing.T) {
	network := messenger.NewMemory()
	a, b := network.Node("a"), network.Node("b")
	entered, left := make(chan struct{}), make(chan struct{})
	b.Handle("wait", func(ctx context.Context, _ []byte) ([]byte, error) {
		close(entered)
		<-ctx.Done()
		close(left)
		return nil, ctx.Err()
	})
	b.Handle("ping", func(_ context.Context, p []byte) ([]byte, error) { return p, nil })

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		_, err := a.Request(ctx, "b", "wait", nil)
		failed <- err
	}()
	<-entered
	network.Cut("b", true)
	if err := <-failed; err == nil || errors.Is(err, messenger.ErrNotTaken) {
		t.Errorf("a request under way when its node is cut off returns %v, although it may have been executed", err)
	}
	<-left
	if _, err := a.Request(ctx, "b", "ping", nil); !errors.Is(err, messenger.ErrNotTaken) {
		t.Errorf("a request to a node that is cut off returns %v", err)
	}
	if _, err := b.Request(ctx, "b", "ping", nil); err != nil {
		t.Errorf("a node that is cut off does not reach itself: %v", err)
	}
	network.Cut("b", false)
	if got, err := a.Request(ctx, "b", "ping", []byte("x")); err != nil || string(got) != "x" {
		t.Errorf("after it is back, %q, %v", got, err)
	}
}

func TestFailureOf(t *testing.T) {
	err := fmt.Errorf("wrapped: %w", &messenger.Failure{Code: "Full", Text: "no space"})
	if f := messenger.FailureOf(err); f.Code != "Full" || f.Text != "wrapped: no space" {
		t.Errorf("got %+v", f)
	}
	if f := messenger.FailureOf(errors.New("plain")); f.Code != "" || f.Text != "plain" {
		t.Errorf("got %+v", f)
	}
}
