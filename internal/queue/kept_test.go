package queue

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// An undo keeps the order of each group, with messages in flight from before and after the purge, and with a crash
// after each of its transactions.
func TestUndoKeepsTheOrderOfGroups(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	defer r.close()
	r.kept, r.undoAtOnce = true, 1
	r.reload()
	r.configure(Config{ID: 1, ARN: "jobs.fifo", FIFO: true, Retention: time.Hour, Visibility: time.Minute})
	do := func(f func(*Engine) error) {
		t.Helper()
		if err := r.transact(f); err != nil {
			t.Fatal(err)
		}
	}
	send := func(bodies ...string) {
		t.Helper()
		do(func(e *Engine) error {
			var out []Outgoing
			for _, b := range bodies {
				out = append(out, Outgoing{Body: b, Group: b[:1], Dedup: b})
			}
			_, err := e.Send(1, out)
			return err
		})
	}
	var receipts []Receipt
	receive := func(most int) (bodies []string) {
		t.Helper()
		do(func(e *Engine) error {
			given, err := e.Receive(1, Receive{Max: most})
			for _, d := range given {
				m, bad := e.queues[1].readMessage(d.Position)
				if bad != nil {
					return bad
				}
				bodies, receipts = append(bodies, m.Body), append(receipts, Receipt{d.Position, d.Receipt})
			}
			return err
		})
		return bodies
	}
	want := func(got []string, want string) {
		t.Helper()
		slices.SortStableFunc(got, func(a, b string) int { return strings.Compare(a[:1], b[:1]) })
		if fmt.Sprint(got) != want {
			t.Errorf("received %v, want %s", got, want)
		}
	}
	send("a1", "a2", "c1", "c2", "d1", "b1")
	want(slices.Concat(receive(1), receive(1), receive(1)), "[a1 c1 d1]")
	do(func(e *Engine) error { _, err := e.Purge(Purging{Queue: 1}); return err })
	send("a3", "b2")
	want(receive(2), "[a3 b2]")
	send("d2")
	do(func(e *Engine) error { _, err := e.UndoPurge(1); return err })
	steps := 0
	for ; r.engine.queues[1].kept.undoes(); steps++ {
		want(receive(10), "[]")
		r.load()
		do((*Engine).Advance)
	}
	if steps < 3 {
		t.Errorf("the undo had %d transactions", steps)
	}
	want(receive(10), "[]")
	r.advance(time.Minute)
	receipts = nil
	want(receive(10), "[a1 a2 a3 b1 b2 c1 c2 d1 d2]")
	do(func(e *Engine) error { _, err := e.Delete(1, receipts); return err })
	do((*Engine).Advance)
	r.reload()
	if q := r.engine.queues[1]; q.stored != 0 || q.groups.mixed || q.kept.since != 0 {
		t.Errorf("%d messages are left, mixed %t, kept since %v", q.stored, q.groups.mixed, q.kept.since)
	}
}
