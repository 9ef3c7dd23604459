package shard

import (
	"context"
	"fmt"

	"github.com/sluicemq/sluice/internal/queue"
)

// State is the state of a queue on one shard.
type State struct {
	queue.State
	Waiters int    // long polls that wait for a message
	Disk    uint64 // approximate bytes of the queue in tables on the disk; recent writes are not yet in a table
	Shard   int    // its number; 0: there is only one
	Node    string // its owner; empty: there is no cluster
}

// States returns the state of a queue on each of its shards: here, on one.
func (s *Shard) States(ctx context.Context, id queue.ID) ([]State, error) {
	var look queue.Look
	st, err := call(ctx, s, func(e *queue.Engine) (st State, err error) {
		if st.State, err = e.State(id); err == nil {
			look, err = e.Look(id)
		}
		if line := s.polls.waiting[id]; line != nil {
			st.Waiters = line.Len()
		}
		return st, err
	})
	if err != nil {
		return nil, err
	}
	err = s.walk(ctx, look.Account(), func(r queue.Reader, _ func(int) bool) (err error) {
		if st.Oldest, err = look.Oldest(r); err == nil {
			st.Disk, err = s.store.DiskUse(queue.Range(id))
		}
		return err
	})
	return []State{st}, err
}

// Groups lists the message groups of a FIFO queue; see queue.Look. It searches for a limited time, as Peek does.
func (s *Shard) Groups(ctx context.Context, id queue.ID, g queue.Groups) (queue.GroupsResult, error) {
	look, err := call(ctx, s, func(e *queue.Engine) (queue.Look, error) { return e.Look(id) })
	if err != nil {
		return queue.GroupsResult{}, err
	}
	var found queue.GroupsResult
	err = s.walk(ctx, look.Account(), func(r queue.Reader, proceed func(int) bool) (err error) {
		found, err = look.Groups(r, g, proceed)
		return err
	})
	return found, err
}

// walk waits for the turn of the account, and calls f with a snapshot of the store, in the goroutine of the caller. f
// calls proceed after each step with the bytes that it has read, and ends when proceed returns false.
func (s *Shard) walk(
	ctx context.Context, account string, f func(r queue.Reader, proceed func(bytes int) bool) error,
) error {
	s.reading.RLock()
	defer s.reading.RUnlock()
	select {
	case <-s.closed:
		return s.ended()
	default:
	}
	w, err := s.pacer.begin(ctx, account)
	if err != nil {
		return err
	}
	defer w.end()
	r := s.store.Reader()
	defer r.Close()
	if err := f(r, w.proceed); err != nil {
		s.log.Error("a queue cannot be looked into", "error", err)
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}
