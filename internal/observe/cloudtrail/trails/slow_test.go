package trails_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/bucket"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trail"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails/spool"
	"github.com/sluicemq/sluice/internal/proof/eventually"
)

// stuck is a store with a bucket that does not answer until it is released.
type stuck struct {
	bucket.Store
	name     string
	asked    atomic.Bool
	released chan struct{}
}

func (s *stuck) Put(ctx context.Context, name, key string, o bucket.Object) error {
	if name == s.name {
		s.asked.Store(true)
		select {
		case <-s.released:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return s.Store.Put(ctx, name, key, o)
}

// dataEvent adds a data event of an account to the trails.
func (w *world) dataEvent(account string, at time.Time) {
	w.calls++
	w.trails.AddData(&trail.Event{
		EventTime: at, AWSRegion: "us-east-1", EventCategory: "Data", RecipientAccountID: account,
		RequestID: fmt.Sprint(w.calls),
		Resources: []trail.Resource{{ARN: "arn:aws:sqs:us-east-1:" + account + ":jobs", Type: "AWS::SQS::Queue"}},
	})
}

// A bucket that does not answer does not prevent data events from reaching the disk, or another account's events from
// reaching its bucket.
func TestSlowBucket(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const other = "444455556666"
	w.must(os.Mkdir(filepath.Join(w.dir, "other"), 0o755))
	w.create(takesData)
	w.must(w.trails.Change(t.Context(), func(tx *trails.Tx) error {
		one := &trails.Trail{
			Name: trails.Name{Account: other, Region: "us-east-1", Name: "all"}, Bucket: "other", Logging: true,
		}
		takesData(one)
		return tx.Create(one, w.now)
	}))
	var ahead atomic.Int64
	now := func() time.Time { return w.now.Add(time.Duration(ahead.Load())) }
	buckets := &stuck{Store: w.buckets.Store, name: "audit", released: make(chan struct{})}
	log := slog.New(slog.DiscardHandler)
	d := trails.NewDeliverer(trails.DelivererOptions{
		Trails: w.trails, Events: w.events, Store: buckets, Topics: &w.topics, Spool: w.spool, Now: now, Log: log,
	})
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	running.Go(func() { w.spool.Run(ctx, now) })
	running.Go(func() { d.Run(ctx) })
	files := func(name string) int {
		keys, err := w.buckets.List(t.Context(), name, "")
		w.must(err)
		return len(keys)
	}
	flushed := func(n int) func() bool {
		return func() bool {
			after, err := spool.Open(filepath.Join(w.dir, "spool"), log) // as after a crash
			w.must(err)
			found := 0
			for _, segment := range after.Due(now(), 0) {
				events, err := after.Read(segment)
				w.must(err)
				found += len(events)
			}
			return found == n
		}
	}

	w.dataEvent(account, w.now)
	eventually.True(t, "on disk", flushed(1))
	ahead.Add(int64(6 * time.Minute))
	eventually.True(t, "asking the bucket that is stuck", buckets.asked.Load)
	for range 1000 {
		w.dataEvent(account, now())
	}
	w.dataEvent(other, now())
	eventually.True(t, "all events on disk", flushed(1002))
	ahead.Add(int64(6 * time.Minute))
	eventually.True(t, "in the other bucket", func() bool { return files("other") == 1 })
	if files("audit") > 0 {
		t.Error("the stuck bucket has files")
	}
	close(buckets.released)
	eventually.True(t, "in the bucket that was stuck", func() bool { return files("audit") == 2 })
	if w.spool.Dropped()+w.spool.Undelivered() > 0 {
		t.Errorf("dropped were %d, undelivered are %d", w.spool.Dropped(), w.spool.Undelivered())
	}
}
