package queue

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// While clients call all operations, an undo restores messages and the shard fails at random times. No message is lost
// or received after its deletion, the store and the engine's memory agree, and the groups of a FIFO queue stay in
// order.

func TestUndoBesideOtherCalls(t *testing.T) {
	t.Parallel()
	for _, fifo := range []bool{false, true} {
		t.Run(fmt.Sprintf("fifo=%t", fifo), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) { undoBeside(t, fifo) })
		})
	}
}

// beside is a queue whose purges are undone, with its expected contents.
type beside struct {
	t    *rapid.T
	rig  *rig
	fifo bool
	sent int
	// A queue has live messages, and those that a purge has kept.
	live, kept map[string]MessageID
	receipts   []besideReceipt
}

type besideReceipt struct {
	Receipt
	body string
}

func undoBeside(t *rapid.T, fifo bool) {
	b := &beside{t: t, rig: newRig(t), fifo: fifo, live: make(map[string]MessageID), kept: make(map[string]MessageID)}
	defer b.rig.close()
	b.rig.kept, b.rig.undoAtOnce = true, rapid.SampledFrom([]int{1, 1, 2, 5}).Draw(t, "at once")
	b.rig.reload()
	b.rig.configure(Config{
		ID: 1, ARN: "jobs", FIFO: fifo, Retention: 24 * time.Hour, Visibility: 20 * time.Second, PurgeAnytime: true,
	})
	steps := []func(){
		b.send, b.send, b.receive, b.receive, b.delete, b.visibility, b.discard, b.purge, b.undo, b.undo,
		b.advance, b.advance, b.later, b.crash,
	}
	for range rapid.IntRange(5, 60).Draw(t, "steps") {
		steps[rapid.IntRange(0, len(steps)-1).Draw(t, "step")]()
		b.look()
	}
	b.undo()
	b.empty()
}

func (b *beside) do(f func(*Engine) error) error {
	b.t.Helper()
	return b.rig.transact(f)
}

func (b *beside) must(f func(*Engine) error) {
	b.t.Helper()
	if err := b.do(f); err != nil {
		b.t.Fatal(err)
	}
}

func (b *beside) undoes() bool { return b.rig.engine.queues[1].kept.undoes() }

// look compares the number of messages.
func (b *beside) look() {
	q := b.rig.engine.queues[1]
	k, n := q.kept.describe(), q.stored
	if k.Undoing {
		n += k.Messages
	} else if k.Messages != uint64(len(b.kept)) {
		b.t.Fatalf("%d messages are kept, want %d", k.Messages, len(b.kept))
	}
	if n != uint64(len(b.live)) {
		b.t.Fatalf("%d messages are stored, want %d", n, len(b.live))
	}
}

func (b *beside) send() {
	o := Outgoing{Group: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(b.t, "group")}
	if !b.fifo && rapid.Bool().Draw(b.t, "no group") {
		o.Group = ""
	}
	if !b.fifo && rapid.IntRange(0, 3).Draw(b.t, "delayed") == 0 {
		delay := 15 * time.Second
		o.Delay = &delay
	}
	b.sent++
	o.Body = fmt.Sprintf("%s%03d", o.Group, b.sent)
	copy(o.ID[:], fmt.Sprintf("%016d", b.sent))
	if b.fifo {
		o.Dedup = o.Body
	}
	b.must(func(e *Engine) error { _, err := e.Send(1, []Outgoing{o}); return err })
	b.live[o.Body] = o.ID
}

func (b *beside) receive() { b.take(rapid.IntRange(1, 10).Draw(b.t, "most")) }

// take receives messages, and returns their number.
func (b *beside) take(most int) int {
	var got []string
	was := b.undoes()
	b.must(func(e *Engine) error {
		given, err := e.Receive(1, Receive{Max: most})
		for _, d := range given {
			m, bad := e.queues[1].readMessage(d.Position)
			if bad != nil {
				return bad
			}
			got = append(got, m.Body)
			b.receipts = append(b.receipts, besideReceipt{Receipt{d.Position, d.Receipt}, m.Body})
		}
		return err
	})
	for i, body := range got {
		if _, is := b.live[body]; !is {
			b.t.Fatalf("%s was received, and is deleted or purged", body)
		}
		for other := range b.live {
			if b.fifo && other[0] == body[0] && other < body && !slices.Contains(got[:i], other) {
				b.t.Fatalf("%s was received before %s", body, other)
			}
		}
	}
	if was && b.undoes() && b.fifo && len(got) > 0 {
		b.t.Fatalf("%v were received during an undo", got)
	}
	return len(got)
}

// pick returns a receipt, possibly of a message that was received again, deleted or purged since.
func (b *beside) pick() (besideReceipt, bool) {
	if len(b.receipts) == 0 {
		return besideReceipt{}, false
	}
	return rapid.SampledFrom(b.receipts).Draw(b.t, "receipt"), true
}

func (b *beside) delete() {
	r, ok := b.pick()
	if !ok {
		return
	}
	var results []error
	b.must(func(e *Engine) (err error) { results, err = e.Delete(1, []Receipt{r.Receipt}); return err })
	if results[0] == nil {
		delete(b.live, r.body)
		delete(b.kept, r.body)
	}
}

func (b *beside) visibility() {
	if r, ok := b.pick(); ok {
		v := Visibility{
			Receipt: r.Receipt, Timeout: rapid.SampledFrom([]time.Duration{0, time.Minute}).Draw(b.t, "timeout"),
		}
		b.must(func(e *Engine) error { _, err := e.ChangeVisibility(1, []Visibility{v}); return err })
	}
}

// discard deletes a message by its id. It does not find messages that an undo has yet to restore.
func (b *beside) discard() {
	all := slices.Sorted(maps.Keys(b.live))
	if len(all) == 0 {
		return
	}
	body := rapid.SampledFrom(all).Draw(b.t, "message")
	was := b.undoes()
	if gone := b.rig.discard(1, []MessageID{b.live[body]}); len(gone) == 1 {
		delete(b.live, body)
	} else if !was {
		b.t.Fatalf("%s was not found", body)
	}
}

func (b *beside) purge() {
	undoes := b.undoes()
	b.must(func(e *Engine) error { _, err := e.Purge(Purging{Queue: 1}); return err })
	switch {
	case undoes && b.rig.engine.queues[1].kept.since == 0: // the undo had not ended
		clear(b.kept)
	case len(b.live) > 0:
		b.kept = maps.Clone(b.live)
	}
	clear(b.live)
}

func (b *beside) undo() {
	if b.undoes() {
		return
	}
	err := b.do(func(e *Engine) error { _, err := e.UndoPurge(1); return err })
	if (err == nil) != (len(b.kept) > 0) {
		b.t.Fatalf("%d messages are kept, and the undo gave %v", len(b.kept), err)
	}
	maps.Copy(b.live, b.kept)
	clear(b.kept)
}

func (b *beside) advance() { b.must((*Engine).Advance) }

func (b *beside) later() {
	b.rig.now = b.rig.now.Add(rapid.SampledFrom([]time.Duration{time.Millisecond, 5 * time.Second}).Draw(b.t, "time"))
	b.advance()
}

func (b *beside) crash() { b.rig.load() }

// empty receives and deletes all messages.
func (b *beside) empty() {
	for round := 0; len(b.live) > 0; round++ {
		if round == 1000 {
			b.t.Fatalf("%v are never received", b.live)
		}
		b.rig.now = b.rig.now.Add(time.Second)
		b.advance()
		b.receipts = nil
		b.take(10)
		for _, r := range b.receipts {
			b.must(func(e *Engine) error { _, err := e.Delete(1, []Receipt{r.Receipt}); return err })
			delete(b.live, r.body)
		}
		b.look()
	}
	if n := b.take(10); n != 0 {
		b.t.Fatalf("%d messages were received of an empty queue", n)
	}
}
