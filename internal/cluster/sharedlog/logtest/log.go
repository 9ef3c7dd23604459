// Package logtest tests whether an engine can carry Sluice's protocol: it has one test for each guarantee of
// sharedlog.Log and sharedlog.Leases.
package logtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
)

// patience limits the wait for an event that must happen eventually.
const patience = time.Minute

// TestLog tests the logs that open returns. Each must be empty, and new.
func TestLog(t *testing.T, open func(t *testing.T) sharedlog.Log) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, l log)
	}{
		{"an empty log", testEmpty},
		{"append and read", testAppend},
		{"a conflict appends nothing", testConflict},
		{"an append may be repeated", testRepeat},
		{"one of many writers wins", testRace},
		{"records of all sizes", testSizes},
		{"read in pieces", testPieces},
		{"trim", testTrim},
		{"positions go on after everything was trimmed", testTrimAll},
		{"follow", testFollow},
		{"follow from a position to come", testFollowLater},
		{"follow across a trim", testFollowTrimmed},
		{"follow ends", testFollowEnds},
		{"an ended context", testContext},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			c.test(t, log{t, ctx, open(t)})
		})
	}
}

// log is a log under test, with helpers for frequent steps.
type log struct {
	t *testing.T
	// it lives as long as its test
	ctx context.Context
	sharedlog.Log
}

// append appends as the owner of a shard does: after an indefinite answer it asks again, and a conflict with its own
// record is success.
func (l log) append(after sharedlog.Position, data []byte) {
	l.t.Helper()
	for unknown := false; ; unknown = true {
		err := l.Append(l.ctx, after, data)
		switch {
		case err == nil:
			return
		case errors.Is(err, sharedlog.ErrConflict):
			if records, _, _ := l.Read(l.ctx, after+1); unknown && len(records) > 0 &&
				bytes.Equal(records[0].Data, data) {
				return
			}
		case l.ctx.Err() == nil:
			continue
		}
		l.t.Fatalf("append after %d: %v", after, err)
	}
}

func (l log) extent() sharedlog.Extent {
	l.t.Helper()
	_, e, err := l.Read(l.ctx, 1)
	if err != nil && !errors.Is(err, sharedlog.ErrTrimmed) {
		l.t.Fatalf("read: %v", err)
	}
	return e
}

// expect reads from a position to the end and compares the records with the expected ones.
func (l log) expect(from sharedlog.Position, want ...[]byte) {
	l.t.Helper()
	next := from
	for {
		records, e, err := l.Read(l.ctx, next)
		if err != nil {
			l.t.Fatalf("read from %d: %v", next, err)
		}
		if len(records) == 0 {
			if e.Last >= next {
				l.t.Fatalf("read from %d gives nothing, though the log ends at %d", next, e.Last)
			}
			break
		}
		for _, r := range records {
			if r.Position != next {
				l.t.Fatalf("position %d comes where %d should", r.Position, next)
			}
			if i := int(next - from); i >= len(want) || !bytes.Equal(r.Data, want[i]) {
				l.t.Fatalf("the record at %d is not the one that was appended", next)
			}
			next++
		}
	}
	if got := int(next - from); got != len(want) {
		l.t.Fatalf("%d records from %d on, not %d", got, from, len(want))
	}
}

func record(n int) []byte { return fmt.Appendf(nil, "record %d", n) }

func testEmpty(_ *testing.T, l log) {
	for _, from := range []sharedlog.Position{1, 2, 100} {
		l.expect(from)
	}
	if e := l.extent(); e.First != 1 || e.Last != 0 {
		l.t.Errorf("the extent is %+v", e)
	}
}

func testAppend(_ *testing.T, l log) {
	var want [][]byte
	for n := range 20 {
		want = append(want, record(n))
		l.append(sharedlog.Position(n), want[n])
	}
	for _, from := range []sharedlog.Position{1, 7, 20, 21, 1000} {
		l.expect(from, want[min(int(from)-1, len(want)):]...)
	}
	if e := l.extent(); e.First != 1 || e.Last != 20 || e.Bytes <= 0 {
		l.t.Errorf("the extent is %+v", e)
	}
}

func testConflict(_ *testing.T, l log) {
	l.append(0, record(1))
	l.append(1, record(2))
	for _, after := range []sharedlog.Position{0, 1, 3, 100} {
		if err := l.Append(l.ctx, after, record(99)); !errors.Is(err, sharedlog.ErrConflict) {
			l.t.Errorf("append after %d gives %v", after, err)
		}
	}
	l.expect(1, record(1), record(2))
	l.append(2, record(3))
	l.expect(1, record(1), record(2), record(3))
}

// A caller that does not know the outcome repeats the call, which must not append twice.
func testRepeat(_ *testing.T, l log) {
	l.append(0, record(1))
	if err := l.Append(l.ctx, 0, record(1)); !errors.Is(err, sharedlog.ErrConflict) {
		l.t.Errorf("repeated: %v", err)
	}
	l.expect(1, record(1))
}

func testRace(t *testing.T, l log) {
	const writers, rounds = 6, 15
	for round := range rounds {
		var won, other atomic.Int32
		var winner atomic.Pointer[[]byte]
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				data := fmt.Appendf(nil, "round %d of writer %d", round, w)
				// After an indefinite answer a writer asks again, as the owner of a shard does, and finds out by
				// reading whose record came first.
				for unknown := false; ; unknown = true {
					err := l.Append(l.ctx, sharedlog.Position(round), data)
					switch {
					case err == nil:
					case errors.Is(err, sharedlog.ErrConflict):
						records, _, err := l.Read(l.ctx, sharedlog.Position(round+1))
						if err != nil || len(records) == 0 {
							t.Errorf("after a conflict, %d records and %v", len(records), err)
							return
						}
						if mine := bytes.Equal(records[0].Data, data); !mine {
							return
						} else if !unknown {
							t.Error("a writer is refused for its own record")
						}
					case l.ctx.Err() != nil:
						other.Add(1)
						return
					default:
						continue
					}
					won.Add(1)
					winner.Store(&data)
					return
				}
			})
		}
		all.Wait()
		if won.Load() != 1 || other.Load() != 0 {
			t.Fatalf("%d of %d writers won, %d know nothing", won.Load(), writers, other.Load())
		}
		l.expect(sharedlog.Position(round+1), *winner.Load())
	}
}

func testSizes(_ *testing.T, l log) {
	random := rand.NewChaCha8([32]byte{1})
	var want [][]byte
	for _, size := range []int{0, 1, 1 << 10, 1 << 20, sharedlog.MaxRecord, 5 << 20, 0, sharedlog.MaxRecord} {
		data := make([]byte, size)
		if _, err := random.Read(data); err != nil {
			l.t.Fatal(err)
		}
		l.append(sharedlog.Position(len(want)), data)
		want = append(want, data)
	}
	l.expect(1, want...)
	l.expect(5, want[4:]...)
	if e := l.extent(); e.Bytes < 2*sharedlog.MaxRecord {
		l.t.Errorf("the log takes %d bytes", e.Bytes)
	}
}

// A long log is not read at once.
func testPieces(_ *testing.T, l log) {
	data := bytes.Repeat([]byte("x"), 1<<20)
	var want [][]byte
	for n := range 40 {
		want = append(want, append(record(n), data...))
		l.append(sharedlog.Position(n), want[n])
	}
	records, _, err := l.Read(l.ctx, 1)
	if err != nil || len(records) == 0 || len(records) > 32 {
		l.t.Errorf("one read gives %d records of 1 MiB, %v", len(records), err)
	}
	l.expect(1, want...)
}

func testTrim(_ *testing.T, l log) {
	var want [][]byte
	for n := range 10 {
		want = append(want, record(n))
		l.append(sharedlog.Position(n), want[n])
	}
	trim := func(to sharedlog.Position) {
		l.t.Helper()
		if err := l.Trim(l.ctx, to); err != nil {
			l.t.Fatal(err)
		}
	}
	trim(0)
	l.expect(1, want...)
	trim(4)
	trim(4)
	trim(2)
	for _, from := range []sharedlog.Position{1, 4} {
		records, e, err := l.Read(l.ctx, from)
		if !errors.Is(err, sharedlog.ErrTrimmed) || len(records) > 0 || e.First != 5 || e.Last != 10 {
			l.t.Errorf("read from %d: %d records, %+v, %v", from, len(records), e, err)
		}
	}
	l.expect(5, want[4:]...)
	l.expect(8, want[7:]...)
	l.append(10, record(10))
	l.expect(11, record(10))
}

func testTrimAll(_ *testing.T, l log) {
	for n := range 5 {
		l.append(sharedlog.Position(n), record(n))
	}
	for _, to := range []sharedlog.Position{5, 5, 1000} {
		if err := l.Trim(l.ctx, to); err != nil {
			l.t.Fatal(err)
		}
		if e := l.extent(); e.First != 6 || e.Last != 5 {
			l.t.Fatalf("after trimming to %d the extent is %+v", to, e)
		}
	}
	l.expect(6)
	if _, _, err := l.Read(l.ctx, 5); !errors.Is(err, sharedlog.ErrTrimmed) {
		l.t.Errorf("read: %v", err)
	}
	if err := l.Append(l.ctx, 0, record(99)); !errors.Is(err, sharedlog.ErrConflict) {
		l.t.Errorf("append to the beginning: %v", err)
	}
	l.append(5, record(5))
	l.append(6, record(6))
	l.expect(6, record(5), record(6))
}

// follow follows in the background, and checks that the records come in order.
// The function that it returns ends it, and returns the last position and the error.
func (l log) follow(
	from sharedlog.Position, want func(sharedlog.Position) []byte,
) (at *atomic.Uint64, stop func() error) {
	at = new(atomic.Uint64)
	at.Store(uint64(from) - 1)
	ctx, cancel := context.WithCancel(l.ctx)
	done := make(chan error, 1)
	go func() {
		done <- l.Follow(ctx, from, func(r sharedlog.Record) error {
			if uint64(r.Position) != at.Load()+1 {
				return fmt.Errorf("position %d comes after %d", r.Position, at.Load())
			}
			if !bytes.Equal(r.Data, want(r.Position)) {
				return fmt.Errorf("the record at %d is not the one that was appended", r.Position)
			}
			at.Store(uint64(r.Position))
			return nil
		})
	}()
	return at, func() error {
		cancel()
		return <-done
	}
}

// reaches waits until a follower has reached a position.
func (l log) reaches(at *atomic.Uint64, to sharedlog.Position) {
	l.t.Helper()
	for at.Load() < uint64(to) {
		select {
		case <-l.ctx.Done():
			l.t.Fatalf("the follower is at %d, not at %d", at.Load(), to)
		case <-time.After(time.Millisecond):
		}
	}
}

func position(p sharedlog.Position) []byte { return record(int(p)) }

func testFollow(t *testing.T, l log) {
	for n := range 10 {
		l.append(sharedlog.Position(n), position(sharedlog.Position(n+1)))
	}
	at1, stop1 := l.follow(1, position)
	at8, stop8 := l.follow(8, position)
	for n := 10; n < 200; n++ {
		l.append(sharedlog.Position(n), position(sharedlog.Position(n+1)))
	}
	l.reaches(at1, 200)
	l.reaches(at8, 200)
	for n := 200; n < 210; n++ { // one at a time: the follower is at the end whenever one comes
		l.append(sharedlog.Position(n), position(sharedlog.Position(n+1)))
		l.reaches(at1, sharedlog.Position(n+1))
	}
	for _, stop := range []func() error{stop1, stop8} {
		if err := stop(); !errors.Is(err, context.Canceled) {
			t.Errorf("follow ended with %v", err)
		}
	}
}

func testFollowLater(t *testing.T, l log) {
	at, stop := l.follow(4, position)
	for n := range 6 {
		l.append(sharedlog.Position(n), position(sharedlog.Position(n+1)))
	}
	l.reaches(at, 6)
	if err := stop(); !errors.Is(err, context.Canceled) {
		t.Errorf("follow ended with %v", err)
	}
}

func testFollowTrimmed(t *testing.T, l log) {
	for n := range 10 {
		l.append(sharedlog.Position(n), position(sharedlog.Position(n+1)))
	}
	at, stop := l.follow(1, position)
	l.reaches(at, 10)
	if err := l.Trim(l.ctx, 10); err != nil { // records that it has seen may be removed
		t.Fatal(err)
	}
	for n := 10; n < 20; n++ {
		l.append(sharedlog.Position(n), position(sharedlog.Position(n+1)))
	}
	l.reaches(at, 20)
	if err := stop(); !errors.Is(err, context.Canceled) {
		t.Errorf("follow ended with %v", err)
	}
	if err := l.Trim(l.ctx, 15); err != nil {
		t.Fatal(err)
	}
	present := errors.New("the copy that is read has not been trimmed yet")
	err := present
	for errors.Is(err, present) {
		err = l.Follow(l.ctx, 15, func(sharedlog.Record) error { return present })
	}
	if !errors.Is(err, sharedlog.ErrTrimmed) {
		t.Errorf("following what has been trimmed ends with %v", err)
	}
	at, stop = l.follow(16, position)
	l.reaches(at, 20)
	if err := stop(); !errors.Is(err, context.Canceled) {
		t.Errorf("follow ended with %v", err)
	}
}

func testFollowEnds(t *testing.T, l log) {
	enough := errors.New("enough")
	for n := range 3 {
		l.append(sharedlog.Position(n), record(n))
	}
	calls := 0
	err := l.Follow(l.ctx, 1, func(r sharedlog.Record) error {
		if calls++; r.Position == 2 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || calls != 2 {
		t.Errorf("after %d calls, %v", calls, err)
	}
}

func testContext(t *testing.T, l log) {
	l.append(0, record(0))
	ctx, cancel := context.WithCancel(l.ctx)
	cancel()
	if _, _, err := l.Read(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("read: %v", err)
	}
	if err := l.Trim(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("trim: %v", err)
	}
	if err := l.Follow(ctx, 2, func(sharedlog.Record) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("follow: %v", err)
	}
	if err := l.Append(ctx, 1, record(1)); err == nil || errors.Is(err, sharedlog.ErrConflict) {
		t.Errorf("append: %v", err)
	}
}
