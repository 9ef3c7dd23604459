package queue

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/store"
)

// BenchmarkMinutes lets minutes pass in active queues, each of which sends, receives and deletes a few messages in a
// minute. It reports the cost of the ends of minutes: processor time, and the size of a row, before compression and on
// the disk. The size on the disk is meaningful after some hours: younger rows are in no table.
func BenchmarkMinutes(b *testing.B) {
	for _, queues := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint(queues), func(b *testing.B) { benchMinutes(b, queues) })
	}
}

func benchMinutes(b *testing.B, queues int) {
	blocks := store.NewCache(64 << 20)
	defer blocks.Close()
	s, err := store.Open(b.TempDir(), store.Options{Cache: blocks})
	if err != nil {
		b.Fatal(err)
	}
	var configs []Config
	for i := range ID(queues) {
		configs = append(configs, Config{
			ID: i + 1, ARN: fmt.Sprintf("arn:aws:sqs:us-east-1:000000000000:orders-of-customer-%05d", i),
			Retention: time.Hour, Visibility: time.Hour,
		})
	}
	x := &bench{b: b, store: s, now: minuteOf(epoch), body: "body"}
	tx := s.Begin()
	if x.engine, err = Load(tx, x.now, configs, func(ID) bool { return false }, DefaultKeep); err != nil {
		b.Fatal(err)
	}
	if err := s.Commit(tx); err != nil {
		b.Fatal(err)
	}
	tx.Release()
	rng := rand.New(rand.NewPCG(1, 2))
	minutes := 0
	for b.Loop() {
		b.StopTimer()
		for id := ID(1); id <= ID(queues); id += 100 {
			x.transact(func(e *Engine) error { return someTraffic(e, rng, id, 100) })
		}
		x.now += minute
		minutes++
		b.StartTimer()
		for x.engine.NextWake() <= x.now {
			x.transact((*Engine).Advance)
		}
	}
	b.ReportMetric(100*b.Elapsed().Seconds()/60/float64(minutes), "%processor")
	b.ReportMetric(float64(blockBytes(b, s))/float64(minutes)/float64(queues), "bytes/row")
	lo, hi := tableRange(shared, tableBlock)
	onDisk, err := s.DiskUse(lo, hi)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(onDisk)/float64(minutes)/float64(queues), "disk-bytes/row")
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkCounting compares the cost of a message with and without counting.
func BenchmarkCounting(b *testing.B) {
	for name, keep := range map[string]Keep{"with": DefaultKeep, "without": {}} {
		b.Run(name, func(b *testing.B) {
			benchKeeping(b, keep, Config{ID: 1, ARN: "arn:aws:sqs:us-east-1:000000000000:orders"}, 0,
				func(int) Outgoing { return Outgoing{} })
		})
	}
}

// someTraffic sends, receives and deletes a few messages in some queues.
func someTraffic(e *Engine, rng *rand.Rand, first ID, n int) error {
	for id := first; id < first+ID(n); id++ {
		if _, err := e.Send(id, make([]Outgoing, 1+rng.IntN(3))); err != nil {
			return err
		}
		given, err := e.Receive(id, Receive{Max: 1 + rng.IntN(3)})
		if err != nil {
			return err
		}
		for _, d := range given {
			if _, err := e.Delete(id, []Receipt{{d.Position, d.Receipt}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// blockBytes returns the size of the rows and their keys in a store, before compression.
func blockBytes(b *testing.B, s *store.Store) (size int) {
	b.Helper()
	lo, hi := tableRange(shared, tableBlock)
	err := s.Scan(lo, hi, func(k, v []byte) bool {
		size += len(k) + len(v)
		return true
	})
	if err != nil {
		b.Fatal(err)
	}
	return size
}
