package shard

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/store"
)

// readers are the goroutines that read the store outside the owner: callers that read the messages of their receives,
// search a queue, or read rows of metrics. They change nothing. The owner first describes the state that must agree
// with the engine. Everything else cannot change under a reader, because records never change and positions are never
// reused.
//
// The store must stay open until all have left. A shard that closes waits for that.
type readers struct {
	inbox  *inbox
	store  *store.Store
	log    *slog.Logger
	inside sync.RWMutex // held for reading by each
	pacer  *pacer
	recent recent
	cipher queue.Cipher // nil: they cannot read encrypted messages
}

func (rs *readers) enter() { rs.inside.RLock() }
func (rs *readers) leave() { rs.inside.RUnlock() }

// wait waits until all readers have left.
func (rs *readers) wait() {
	rs.inside.Lock()
	defer rs.inside.Unlock()
}

// snapshot is the data for a reader, and the function that it calls after each step; see walk.
type snapshot struct {
	r       queue.Reader
	proceed func(bytes int) bool
}

// look reads a queue in the goroutine of the caller: the owner describes the queue, and f reads it from a snapshot, as
// in walk.
func look[T any](
	ctx context.Context, rs *readers, id queue.ID,
	f func(l *queue.Look, at snapshot) (T, error),
) (T, error) {
	var none, found T
	l, err := call(ctx, rs.inbox, func(e *queue.Engine) (queue.Look, error) { return e.Look(id) })
	if err != nil {
		return none, err
	}
	l.Cipher = rs.cipher
	err = rs.walk(ctx, l.Account(), func(r queue.Reader, proceed func(int) bool) (err error) {
		found, err = f(&l, snapshot{r, proceed})
		return err
	})
	return found, err
}

// walk waits for the turn of the account, and calls f with a snapshot of the store, in the goroutine of the caller. f
// calls proceed after each step with the bytes that it has read, and ends when proceed returns false.
func (rs *readers) walk(
	ctx context.Context, account string, f func(r queue.Reader, proceed func(bytes int) bool) error,
) error {
	rs.enter()
	defer rs.leave()
	if rs.inbox.isClosed() {
		return rs.inbox.ended()
	}
	w, err := rs.pacer.begin(ctx, account)
	if err != nil {
		return err
	}
	defer w.end()
	r := rs.store.Reader()
	defer r.Close()
	if err := f(r, w.proceed); err != nil {
		rs.log.Error("a queue cannot be looked into", "error", err)
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}
