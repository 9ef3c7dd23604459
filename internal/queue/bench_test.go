package queue

import (
	"fmt"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/store"
)

// The benchmarks run messages through send, receive and delete on a store in memory, with ten messages in a transaction
// and a transaction for each of the three calls, and report the time per message. They wait for no disk, so they
// measure the engine and the store's work in memory.

const benchBatch = 10

func BenchmarkStandard(b *testing.B) {
	benchCycle(b, Config{ID: 1}, 0, func(int) Outgoing { return Outgoing{} })
}

func BenchmarkStandardBacklog(b *testing.B) {
	benchCycle(b, Config{ID: 1}, 200_000, func(int) Outgoing { return Outgoing{} })
}

func BenchmarkStandardGroups(b *testing.B) {
	benchCycle(b, Config{ID: 1}, 0, func(i int) Outgoing { return Outgoing{Group: fmt.Sprint(i % 64)} })
}

func BenchmarkFIFOGroups(b *testing.B) {
	benchCycle(b, Config{ID: 1, FIFO: true}, 0, func(i int) Outgoing {
		return Outgoing{Group: fmt.Sprint(i % 64), Dedup: fmt.Sprint(i)}
	})
}

func BenchmarkFIFOGroupsBacklog(b *testing.B) {
	benchCycle(b, Config{ID: 1, FIFO: true}, 200_000, func(i int) Outgoing {
		return Outgoing{Group: fmt.Sprint(i % 64), Dedup: fmt.Sprint(i)}
	})
}

func BenchmarkFIFOOneGroup(b *testing.B) {
	benchCycle(b, Config{ID: 1, FIFO: true}, 0, func(i int) Outgoing {
		return Outgoing{Group: "g", Dedup: fmt.Sprint(i)}
	})
}

func BenchmarkFIFOOneGroupBacklog(b *testing.B) {
	benchCycle(b, Config{ID: 1, FIFO: true}, 200_000, func(i int) Outgoing {
		return Outgoing{Group: "g", Dedup: fmt.Sprint(i)}
	})
}

func BenchmarkDelayed(b *testing.B) {
	benchCycle(b, Config{ID: 1, Delay: time.Millisecond}, 0, func(int) Outgoing { return Outgoing{} })
}

// bench is an engine with one queue.
type bench struct {
	b      *testing.B
	store  *store.Store
	engine *Engine
	now    Instant
	sent   int
	body   string
}

func (x *bench) transact(f func(*Engine) error) {
	tx := x.store.Begin()
	x.engine.Begin(tx, x.now)
	err := f(x.engine)
	x.engine.End()
	if err := firstError(err, x.store.Commit(tx)); err != nil {
		x.b.Fatal(err)
	}
	tx.Release()
}

func (x *bench) send(message func(int) Outgoing) {
	x.transact(func(e *Engine) error {
		var out [benchBatch]Outgoing
		for i := range out {
			out[i] = message(x.sent)
			if out[i].Body == "" {
				out[i].Body = x.body
			}
			x.sent++
		}
		_, err := e.Send(1, out[:])
		return err
	})
}

func benchCycle(b *testing.B, cfg Config, backlog int, message func(int) Outgoing) {
	benchKeeping(b, DefaultKeep, cfg, backlog, message)
}

// benchKeeping is benchCycle with a choice of series.
func benchKeeping(b *testing.B, keep Keep, cfg Config, backlog int, message func(int) Outgoing) {
	// Pebble takes the memory of memtables out of the cache, so a small cache is none.
	blocks := store.NewCache(256 << 20)
	defer blocks.Close()
	s, err := store.OpenMemory(store.Options{Cache: blocks})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	x := &bench{b: b, store: s, now: epoch, body: string(make([]byte, 1024))}
	cfg.Visibility, cfg.Retention = 30*time.Second, 96*time.Hour
	tx := s.Begin()
	if x.engine, err = Load(tx, x.now, []Config{cfg}, func(ID) bool { return false }, keep); err != nil {
		b.Fatal(err)
	}
	tx.Release()
	for x.sent < backlog {
		x.send(message)
	}
	x.now++
	b.ReportAllocs()
	done := 0
	for b.Loop() {
		x.send(message)
		x.now++
		var given []Delivery
		x.transact(func(e *Engine) (err error) {
			given, err = e.Receive(1, Receive{Max: benchBatch})
			return err
		})
		var receipts []Receipt
		for _, d := range given {
			receipts = append(receipts, Receipt{d.Position, d.Receipt})
		}
		x.transact(func(e *Engine) error {
			_, err := e.Delete(1, receipts)
			return err
		})
		if done += len(given); len(given) == 0 {
			b.Fatal("nothing was received")
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(done), "ns/message")
}
