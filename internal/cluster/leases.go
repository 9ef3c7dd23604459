package cluster

import (
	"context"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
)

// leaseList caches the list of the cluster's leases. Callers that ask within a moment share one read, because every
// replica that could own its shard needs the list.
type leaseList struct {
	sharedlog.Leases

	age  time.Duration // maximum age of the list
	turn chan struct{} // held by the caller that reads the list or decides whether to

	list map[string][]byte
	read time.Time
}

func newLeaseList(l sharedlog.Leases, age time.Duration) *leaseList {
	return &leaseList{Leases: l, age: age, turn: make(chan struct{}, 1)}
}

// List implements sharedlog.Leases. The list may be older by age.
func (l *leaseList) List(ctx context.Context) (map[string][]byte, error) {
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if time.Since(l.read) < l.age {
		return l.list, nil
	}
	list, err := l.Leases.List(ctx)
	if err != nil {
		return nil, err
	}
	l.list, l.read = list, time.Now()
	return list, nil
}

// expire makes the next caller read the list again, unless a read is in progress.
func (l *leaseList) expire() {
	if e, ok := l.Leases.(interface{ Expire() }); ok {
		e.Expire()
	}
	select {
	case l.turn <- struct{}{}:
		l.read = time.Time{}
		<-l.turn
	default:
	}
}
