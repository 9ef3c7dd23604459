// Package messengertest tests implementations of messenger.Messenger.
package messengertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/messenger"
)

// patience limits the wait for an event that must happen eventually.
const patience = time.Minute

// Test tests messengers of two nodes, a and b, which are new each time.
func Test(t *testing.T, open func(t *testing.T) (a, b messenger.Messenger)) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, ctx context.Context, a, b messenger.Messenger)
	}{
		{"request and answer", testAnswer},
		{"no node", testNoNode},
		{"failures", testFailure},
		{"large and empty", testSizes},
		{"many at once", testMany},
		{"the caller leaves", testCancel},
		{"the deadline travels along", testDeadline},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			a, b := open(t)
			c.test(t, ctx, a, b)
		})
	}
}

func testAnswer(t *testing.T, ctx context.Context, a, b messenger.Messenger) {
	for _, kind := range []string{"echo", "a kind.with * odd > name/é"} {
		for name, m := range map[string]messenger.Messenger{"a": a, "b": b} {
			m.Handle(kind, func(_ context.Context, p []byte) ([]byte, error) {
				return fmt.Appendf(nil, "%s: %s", name, p), nil
			})
		}
		for _, from := range []messenger.Messenger{a, b} {
			for _, to := range []string{"a", "b"} {
				got, err := from.Request(ctx, to, kind, []byte("hello"))
				if err != nil || string(got) != to+": hello" {
					t.Errorf("%s at %s answers %q, %v", kind, to, got, err)
				}
			}
		}
	}
}

func testNoNode(t *testing.T, ctx context.Context, a, b messenger.Messenger) {
	b.Handle("known", func(context.Context, []byte) ([]byte, error) { return nil, nil })
	for _, c := range []struct{ node, kind string }{{"c", "known"}, {"b", "unknown"}, {"a", "known"}} {
		if _, err := a.Request(ctx, c.node, c.kind, nil); !errors.Is(err, messenger.ErrNotTaken) {
			t.Errorf("%s at %s gives %v", c.kind, c.node, err)
		}
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := a.Request(ended, "b", "known", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context it gives %v", err)
	}
}

func testFailure(t *testing.T, ctx context.Context, a, b messenger.Messenger) {
	b.Handle("plain", func(context.Context, []byte) ([]byte, error) { return []byte("lost"), errors.New("went wrong") })
	b.Handle("coded", func(context.Context, []byte) ([]byte, error) {
		return nil, fmt.Errorf("while trying: %w", &messenger.Failure{Code: "NotOwner", Text: "not here"})
	})
	for kind, want := range map[string]messenger.Failure{
		"plain": {Text: "went wrong"},
		"coded": {Code: "NotOwner", Text: "while trying: not here"},
	} {
		_, err := a.Request(ctx, "b", kind, nil)
		if f, ok := errors.AsType[*messenger.Failure](err); !ok || *f != want {
			t.Errorf("%s gives %#v", kind, err)
		}
		if errors.Is(err, messenger.ErrNotTaken) {
			t.Errorf("%s was executed", kind)
		}
	}
}

func testSizes(t *testing.T, ctx context.Context, a, b messenger.Messenger) {
	b.Handle("reverse", func(_ context.Context, p []byte) ([]byte, error) {
		for i, j := 0, len(p)-1; i < j; i, j = i+1, j-1 {
			p[i], p[j] = p[j], p[i]
		}
		return p, nil
	})
	for _, size := range []int{0, 1, 100_000, messenger.MaxPayload} {
		payload := bytes.Repeat([]byte("x"), size)
		want := bytes.Clone(payload)
		if size > 0 {
			payload[0], want[size-1] = 'y', 'y'
		}
		got, err := a.Request(ctx, "b", "reverse", payload)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("of %d bytes come back %d, %v", size, len(got), err)
		}
	}
	if _, err := a.Request(ctx, "b", "reverse", make([]byte, messenger.MaxPayload+1)); err == nil || ctx.Err() != nil {
		t.Errorf("a request that is too long gives %v", err)
	}
	b.Handle("verbose", func(context.Context, []byte) ([]byte, error) { return make([]byte, messenger.MaxPayload+1), nil })
	if _, err := a.Request(ctx, "b", "verbose", nil); err == nil || errors.Is(err, messenger.ErrNotTaken) || ctx.Err() != nil {
		t.Errorf("an answer that is too long gives %v", err)
	}
}

// A handler that waits does not hold up others.
func testMany(t *testing.T, ctx context.Context, a, b messenger.Messenger) {
	release := make(chan struct{})
	b.Handle("wait", func(ctx context.Context, p []byte) ([]byte, error) {
		select {
		case <-release:
		case <-ctx.Done():
		}
		return p, ctx.Err()
	})
	b.Handle("ping", func(_ context.Context, p []byte) ([]byte, error) { return p, nil })
	var all sync.WaitGroup
	for n := range 300 {
		all.Go(func() {
			got, err := a.Request(ctx, "b", "wait", fmt.Append(nil, n))
			if err != nil || string(got) != fmt.Sprint(n) {
				t.Errorf("request %d gets %q, %v", n, got, err)
			}
		})
	}
	for n := range 100 {
		got, err := a.Request(ctx, "b", "ping", fmt.Append(nil, n))
		if err != nil || string(got) != fmt.Sprint(n) {
			t.Errorf("request %d gets %q, %v", n, got, err)
		}
	}
	close(release)
	all.Wait()
}

func testCancel(t *testing.T, ctx context.Context, a, b messenger.Messenger) {
	entered, left := make(chan struct{}), make(chan error, 1)
	b.Handle("wait", func(ctx context.Context, _ []byte) ([]byte, error) {
		close(entered)
		<-ctx.Done()
		left <- ctx.Err()
		return nil, nil
	})
	caller, leave := context.WithCancel(ctx)
	failed := make(chan error, 1)
	go func() {
		_, err := a.Request(caller, "b", "wait", nil)
		failed <- err
	}()
	<-entered
	leave()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller gets %v", err)
	}
	select {
	case err := <-left:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the handler's context ends with %v", err)
		}
	case <-ctx.Done():
		t.Error("the handler is not told")
	}
}

func testDeadline(t *testing.T, ctx context.Context, a, b messenger.Messenger) {
	b.Handle("deadline", func(ctx context.Context, _ []byte) ([]byte, error) {
		deadline, ok := ctx.Deadline()
		return fmt.Append(
			nil, ok, " ", time.Until(deadline) > 10*time.Second, " ", time.Until(deadline) <= 30*time.Second,
		), nil
	})
	caller, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	got, err := a.Request(caller, "b", "deadline", nil)
	if err != nil || string(got) != "true true true" {
		t.Errorf("the handler has a deadline, and a right one: %s, %v", got, err)
	}
	gone := make(chan struct{})
	defer close(gone)
	b.Handle("wait", func(ctx context.Context, _ []byte) ([]byte, error) {
		<-ctx.Done()
		<-gone // the handler may see it a moment before the caller gives up, and answer in time
		return nil, nil
	})
	caller, cancel = context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if _, err := a.Request(caller, "b", "wait", nil); err == nil || errors.Is(err, messenger.ErrNotTaken) {
		t.Errorf("after its time the caller gets %v", err)
	}
}
