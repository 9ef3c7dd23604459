package cluster

import (
	"context"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
)

// leaseList is the cluster's leases with a list that is read once for all callers that
// ask within a moment: every replica that could own its shard looks at it.
type leaseList struct {
	sharedlog.Leases

	age  time.Duration // how old the list may be
	turn chan struct{} // held by the caller that reads the list, or looks whether it must

	list map[string][]byte
	read time.Time
}

func newLeaseList(l sharedlog.Leases, age time.Duration) *leaseList {
	return &leaseList{Leases: l, age: age, turn: make(chan struct{}, 1)}
}

// List implements sharedlog.Leases. The list may be behind by age more.
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

// expire has the list be read anew, unless that is under way.
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
