package shard

import (
	"context"

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
	st, err := call(ctx, s.inbox, func(e *queue.Engine) (st State, err error) {
		if st.State, err = e.State(id); err == nil {
			look, err = e.Look(id)
		}
		st.Waiters = s.polls.of(id)
		return st, err
	})
	if err != nil {
		return nil, err
	}
	err = s.readers.walk(ctx, look.Account(), func(r queue.Reader, _ func(int) bool) (err error) {
		if st.Oldest, err = look.Oldest(r); err == nil {
			st.Disk, err = s.readers.store.DiskUse(queue.Range(id))
		}
		return err
	})
	return []State{st}, err
}

// Groups lists the message groups of a FIFO queue; see queue.Look. It searches for a limited time, as Peek does.
func (s *Shard) Groups(ctx context.Context, id queue.ID, g queue.Groups) (queue.GroupsResult, error) {
	return look(ctx, s.readers, id, func(l *queue.Look, at snapshot) (queue.GroupsResult, error) {
		return l.Groups(at.r, g, at.proceed)
	})
}
