package shard_test

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/store"
)

// longQueue returns a shard on a disk with a queue of SLUICE_TEST_PEEK_BACKLOG messages of 1 KiB, and a batch of ten
// such messages.
func longQueue(b *testing.B) (s *shard.Shard, batch []queue.Outgoing) {
	b.Helper()
	backlog := 100_000
	if n, err := strconv.Atoi(os.Getenv("SLUICE_TEST_PEEK_BACKLOG")); err == nil {
		backlog = n
	}
	st, err := store.Open(b.TempDir(), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	s, err = shard.Open(shard.Options{Store: st, Configs: func() []queue.Config {
		return []queue.Config{{ID: jobs, ARN: "jobs", Retention: 24 * time.Hour, Visibility: time.Hour}}
	}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		s.Close()
		if err := st.Close(); err != nil {
			b.Error(err)
		}
	})
	batch = make([]queue.Outgoing, 10)
	for i := range batch {
		batch[i].Body = strings.Repeat("x", 1024)
	}
	var all sync.WaitGroup
	left := atomic.Int64{}
	left.Store(int64(backlog / len(batch)))
	for range 64 {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				if _, err := s.Send(context.Background(), jobs, batch); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
	return s, batch
}

// BenchmarkPeekPage reads pages of 50 messages with their bodies from a long queue.
func BenchmarkPeekPage(b *testing.B) {
	s, _ := longQueue(b)
	p := queue.Peek{States: queue.AllStates, Max: 50, Bodies: true}
	for b.Loop() {
		found, err := s.Peek(b.Context(), jobs, p)
		if err != nil {
			b.Fatal(err)
		}
		if p.After = found.Next; !found.More {
			p.After = queue.PeekCursor{}
		}
	}
}

// BenchmarkPeekBesideTraffic is what a search through a long queue costs those who use the queue. Batches of messages
// are sent, received and deleted as fast as the shard can, on a disk; in every other second and a half a client
// searches. It reports how much is done in those with a search, in percent of the one before without: the median, and
// the quartiles, because other programs on the machine make more of a difference than the search.
// SLUICE_TEST_PEEK_BACKLOG is how long the queue is.
func BenchmarkPeekBesideTraffic(b *testing.B) {
	const window = 1500 * time.Millisecond
	s, batch := longQueue(b)
	var all sync.WaitGroup
	left := atomic.Int64{}
	var searching atomic.Bool
	var scanned atomic.Uint64
	search := func(ctx context.Context) {
		p := queue.Peek{States: queue.AllStates, Filter: "nothing", Max: 10}
		for ctx.Err() == nil {
			found, err := s.Peek(ctx, jobs, p)
			if err != nil && ctx.Err() == nil {
				b.Error(err)
			}
			scanned.Add(found.Scanned)
			p.After = found.Next
		}
	}
	var done [2]atomic.Int64 // without and with a search
	left.Store(int64(b.N / len(batch)))
	b.ResetTimer()
	var workers sync.WaitGroup
	for range 32 {
		workers.Go(func() {
			for left.Add(-1) >= 0 {
				with := searching.Load()
				if err := pass(s, batch); err != nil {
					b.Error(err)
					return
				}
				if with == searching.Load() {
					if with {
						done[1].Add(int64(len(batch)))
					} else {
						done[0].Add(int64(len(batch)))
					}
				}
			}
		})
	}
	finished := make(chan struct{})
	go func() { workers.Wait(); close(finished) }()
	var took [2]time.Duration
	var rates []float64 // in each window
	for on, running := 0, true; running; on = 1 - on {
		ctx, cancel := context.WithTimeout(context.Background(), window)
		if on == 1 {
			searching.Store(true)
			all.Go(func() { search(ctx) })
		}
		start, before := time.Now(), done[on].Load()
		select {
		case <-ctx.Done():
		case <-finished:
			running = false
		}
		took[on] += time.Since(start)
		if running {
			rates = append(rates, float64(done[on].Load()-before)/time.Since(start).Seconds())
		}
		searching.Store(false)
		cancel()
		all.Wait()
	}
	b.StopTimer()
	if len(rates) > 1 {
		var shares []float64 // of each window with a search, of the one before
		for i := 1; i < len(rates); i += 2 {
			shares = append(shares, 100*rates[i]/rates[i-1])
		}
		slices.Sort(shares)
		b.ReportMetric(shares[len(shares)/2], "%")
		b.ReportMetric(shares[len(shares)/4], "%-1st-quartile")
		b.ReportMetric(shares[len(shares)*3/4], "%-3rd-quartile")
		b.ReportMetric(float64(len(shares)), "pairs")
		b.ReportMetric(float64(scanned.Load())/took[1].Seconds(), "scanned/s")
		b.ReportMetric(float64(done[0].Load())/took[0].Seconds(), "messages/s")
	}
}

// pass sends, receives and deletes a batch.
func pass(s *shard.Shard, batch []queue.Outgoing) error {
	ctx := context.Background()
	if _, err := s.Send(ctx, jobs, batch); err != nil {
		return err
	}
	got, err := s.Receive(ctx, jobs, queue.Receive{Max: len(batch)}, time.Second)
	if err != nil {
		return err
	}
	receipts := make([]queue.Receipt, len(got))
	for i := range got {
		receipts[i] = queue.Receipt{Position: got[i].Position, Number: got[i].Receipt}
	}
	_, err = s.Delete(ctx, jobs, receipts)
	return err
}
