package jetstream

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
)

// lookEvery is how often a follower without notices asks the log's leader whether it has missed one. A replica reads
// the log's extent more often, so it notices earlier.
const lookEvery = 15 * time.Second

// Follow implements sharedlog.Log.
//
// The node that appends tells all others the position afterwards, and a follower then reads from the copy nearest to
// it, which has the record by then or a moment later.
func (l *Log) Follow(ctx context.Context, from sharedlog.Position, f func(sharedlog.Record) error) error {
	var heard atomic.Uint64
	news := make(chan struct{}, 1)
	sub, err := l.conn.nc.Subscribe(l.tail, func(m *nats.Msg) {
		p, _ := strconv.ParseUint(string(m.Data), 10, 64) // 0, which is no news, if it is not a number
		if p > heard.Load() {
			heard.Store(p)
		}
		select {
		case news <- struct{}{}:
		default:
		}
	})
	if err != nil {
		return err
	}
	defer func() { _ = sub.Unsubscribe() }()

	look := time.NewTicker(lookEvery)
	defer look.Stop()
	const soon, far, late = time.Millisecond, 32 * time.Millisecond, 200 * time.Millisecond
	retry := soon
	for due := true; ; {
		records, more, err := l.near(ctx, from, retry > far)
		if len(records) == 0 && (due || errors.Is(err, errGap)) {
			records, err = l.lookNow(ctx, from)
			if errors.Is(err, sharedlog.ErrTrimmed) {
				return err
			}
			more = len(records) > 0
		}
		for _, r := range records {
			if err := f(r); err != nil {
				return err
			}
			from = r.Position + 1
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		due = false
		if len(records) > 0 {
			retry = soon
		}
		if more {
			continue
		}

		// An announced record that is not here yet will be here soon.
		var again <-chan time.Time
		if heard.Load() >= uint64(from) {
			again = time.After(retry)
			retry = min(2*retry, late)
		}
		select {
		case <-news:
		case <-look.C:
			due = true
		case <-again:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// lookNow reads what there is by the word of the log's leader. It does not wait
// long for it, because notices may come meanwhile.
func (l *Log) lookNow(ctx context.Context, from sharedlog.Position) ([]sharedlog.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	records, _, err := l.read(ctx, from, false)
	return records, err
}
