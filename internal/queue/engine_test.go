package queue

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"
)

// Time does not go back, even if the clock of the machine does, and even when the engine is loaded again.
func TestTimeDoesNotGoBack(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	defer r.close()
	r.configure(Config{ID: 1, ARN: "q", Retention: time.Hour})
	send := func(body string) {
		t.Helper()
		err := r.do(func(e *Engine) error {
			_, err := e.Send(1, []Outgoing{{Body: body}})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	send("a")
	r.now -= 1000
	send("b")
	r.reload()
	send("c")
	for p, m := range r.stored(1) {
		if m.SentAt != epoch {
			t.Errorf("%v %s was sent at %v", p, m.Body, m.SentAt.Sub(epoch))
		}
	}
	if got := r.engine.Now(); got != epoch {
		t.Errorf("now is %v", got.Sub(epoch))
	}
}

// A task moves something at the instant of its wake-up, and not before.
func TestMoveTaskRate(t *testing.T) {
	t.Parallel()
	for rate := 1; rate <= 500; rate++ {
		for _, moved := range []uint64{0, 1, 2, 3, 10, 499, 500, 501, 10_000_019} {
			task := MoveTask{Rate: rate, Started: epoch, Moved: moved}
			at := task.next()
			if task.allowance(at) == 0 || task.allowance(at-1) != 0 {
				t.Fatalf("rate %d, moved %d: wakes at %v", rate, moved, at.Sub(epoch))
			}
		}
	}
	early := MoveTask{Rate: 1, Started: epoch + 1}
	if n := early.allowance(epoch); n != 0 {
		t.Errorf("a task that has not begun may move %d", n)
	}
	late := MoveTask{Rate: 500, Started: epoch, Moved: 1}
	if n := late.allowance(epoch.Add(100 * 365 * 24 * time.Hour)); n != workAtOnce {
		t.Errorf("a late task may move %d at once", n)
	}
}

// Advance does a bounded amount of work. A queue with much work does not keep the others waiting.
func TestAdvanceTakesTurns(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	defer r.close()
	for id := ID(1); id <= 3; id++ {
		r.configure(Config{ID: id, ARN: fmt.Sprint(id), Retention: time.Hour, Delay: time.Duration(id) * time.Second})
	}
	err := r.do(func(e *Engine) error {
		_, err1 := e.Send(1, make([]Outgoing, 3*workAtOnce))
		_, err2 := e.Send(2, make([]Outgoing, 3*workAtOnce))
		_, err3 := e.Send(3, make([]Outgoing, 1))
		return errors.Join(err1, err2, err3)
	})
	if err != nil {
		t.Fatal(err)
	}
	r.now = r.now.Add(5 * time.Second)
	for _, want := range [][3]uint64{{1, 0, 0}, {1, 1, 0}, {2, 1, 1}, {2, 2, 1}, {3, 2, 1}, {3, 3, 1}} {
		r.now++
		if err := r.transact((*Engine).Advance); err != nil {
			t.Fatal(err)
		}
		var got [3]uint64
		for i := range got {
			got[i] = r.engine.queues[ID(i+1)].counts().Visible
			if i < 2 {
				got[i] /= workAtOnce
			}
		}
		if got != want {
			t.Fatalf("%v have ended, want %v", got, want)
		}
	}
	if r.engine.NextWake() <= r.now {
		t.Error("more work is due")
	}
}

// The list of received messages in order of age does not grow with deletions, even if the oldest message stays.
func TestOldestIsTrimmed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	defer r.close()
	r.configure(Config{ID: 1, ARN: "q", Visibility: time.Hour, Retention: 2 * time.Hour})
	for range 100 {
		err := r.do(func(e *Engine) error {
			if _, err := e.Send(1, make([]Outgoing, 10)); err != nil {
				return err
			}
			given, err := e.Receive(1, Receive{Max: 10})
			if err != nil {
				return err
			}
			var receipts []Receipt
			for _, d := range given {
				if d.Position > 3 {
					receipts = append(receipts, Receipt{d.Position, d.Receipt})
				}
			}
			_, err = e.Delete(1, receipts)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := len(r.engine.queues[1].line.received); n > 100 {
		t.Errorf("%d messages are listed, want 3", n)
	}
}

func TestIsRefusal(t *testing.T) {
	t.Parallel()
	for err := Refusal(1); err.Known(); err++ {
		if err.Error() == "" || !IsRefusal(err) || !IsRefusal(fmt.Errorf("wrapped: %w", err)) {
			t.Errorf("%v is a refusal", err)
		}
	}
	for _, err := range []Refusal{0, refusalsEnd, 255} {
		if err.Known() || err.Error() == "" {
			t.Errorf("%v is known", err)
		}
	}
	for _, err := range []error{nil, errRecordMalformed, errors.New("disk on fire")} {
		if IsRefusal(err) {
			t.Errorf("%v is no refusal", err)
		}
	}
}

func TestUnknownQueue(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	defer r.close()
	f := func(what string, do func(*Engine) error) {
		t.Helper()
		if err := r.do(do); !errors.Is(err, ErrNoQueue) {
			t.Errorf("%s: %v", what, err)
		}
	}
	f("send", func(e *Engine) error { _, err := e.Send(7, nil); return err })
	f("receive", func(e *Engine) error { _, err := e.Receive(7, Receive{Max: 1}); return err })
	f("return", func(e *Engine) error { return e.Return(7, nil, "") })
	f("delete", func(e *Engine) error { _, err := e.Delete(7, nil); return err })
	f("visibility", func(e *Engine) error { _, err := e.ChangeVisibility(7, nil); return err })
	f("purge", func(e *Engine) error { _, err := e.Purge(Purging{Queue: 7}); return err })
	f("counts", func(e *Engine) error { _, err := e.Counts(7); return err })
	f("move", func(e *Engine) error { return e.StartMove(7, MoveTask{}) })
	f("cancel", func(e *Engine) error { _, err := e.CancelMove(7, "t"); return err })
	f("moves", func(e *Engine) error { _, err := e.Moves(7); return err })
	if !r.engine.Available(7) {
		t.Error("waiters for a queue that does not exist are not woken")
	}
	r.drop(7)
}

// A damaged record causes an error, not a panic and not a wrong answer: the shard stops instead of continuing with data
// that it cannot read.
func TestDamagedRecords(t *testing.T) {
	t.Parallel()
	world := func() *rig {
		r := newRig(t)
		r.configure(Config{ID: 1, ARN: "f", FIFO: true, Retention: time.Hour, Redrive: &Redrive{"d", 1}})
		r.configure(Config{ID: 2, ARN: "d", FIFO: true, Retention: time.Hour, Delay: time.Minute})
		r.configure(Config{ID: 3, ARN: "q", Retention: time.Hour})
		err := r.do(func(e *Engine) error {
			var all []Outgoing
			for i := range 6 {
				all = append(all, Outgoing{ID: MessageID{byte(i)}, Body: "b", Group: "g", Dedup: fmt.Sprint(i)})
			}
			for id := ID(1); id <= 3; id++ {
				if _, err := e.Send(id, all); err != nil {
					return err
				}
				if _, err := e.Receive(id, Receive{Max: 3, Timeout: new(time.Second), Attempt: "a"}); err != nil {
					return err
				}
			}
			return e.StartMove(3, MoveTask{ID: "t", Destination: "d", Rate: 1})
		})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	// use does a bit of everything and returns the first error.
	use := func(r *rig) error {
		tx := r.store.Begin()
		defer tx.Release()
		e, err := Load(tx, r.now, r.configs, r.isDeleted, r.keep)
		if err != nil {
			return err
		}
		for _, step := range []time.Duration{0, 2 * time.Second, 2 * time.Minute, 2 * time.Hour} {
			e.Begin(tx, r.now.Add(step))
			for id := ID(1); id <= 3; id++ {
				_, errSend := e.Send(id, []Outgoing{{Group: "g", Dedup: "1"}})
				_, errAgain := e.Receive(id, Receive{Max: 10, Attempt: "a"})
				_, errReceive := e.Receive(id, Receive{Max: 10})
				for _, err := range []error{errSend, errAgain, errReceive} {
					if err != nil && !IsRefusal(err) {
						return err
					}
				}
			}
			for range 10 {
				if err := e.Advance(); err != nil {
					return err
				}
			}
			e.End()
		}
		return nil
	}
	// Loading reads these; other records are read when they are needed, if ever.
	const loaded = string(tableMeta) + string(tableReceived) + string(tableTask)
	r := world()
	defer r.close()
	if err := use(r); err != nil {
		t.Fatalf("undamaged: %v", err)
	}
	var keys [][]byte
	end, _ := queueRange(100)
	err := r.store.Scan(nil, end, func(k, _ []byte) bool {
		keys = append(keys, bytes.Clone(k))
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		whole, err := r.store.Get(k)
		if err != nil {
			t.Fatal(err)
		}
		for _, damaged := range [][]byte{{}, {recordVersion + 1, 0}, whole[:len(whole)/2],
			append(bytes.Clone(whole), 0)} {
			put := func(v []byte) {
				tx := r.store.Begin()
				defer tx.Release()
				tx.Set(k, v)
				if err := r.store.Commit(tx); err != nil {
					t.Fatal(err)
				}
			}
			put(damaged)
			err := use(r)
			if err == nil && (bytes.Equal(k, clockKey) || bytes.IndexByte([]byte(loaded), k[8]) >= 0) {
				t.Errorf("key %q: %q went unnoticed", k, damaged)
			}
			if err != nil && !errors.Is(err, ErrDamaged) && !errors.Is(err, errRecordNewVersion) {
				t.Errorf("key %q: %q caused %v", k, damaged, err)
			}
			put(whole)
		}
	}
}

// A program that does not know the sources of tasks can read tasks without them.
func TestRecordsOfTasks(t *testing.T) {
	plain, back := &MoveTask{ID: "t", Destination: "d"}, &MoveTask{ID: "t", Sources: []ID{1, 1 << 40}}
	if got := plain.encode()[0]; got != 1 {
		t.Errorf("a task without sources has version %d", got)
	}
	if got := back.encode()[0]; got != 2 {
		t.Errorf("a task with sources has version %d", got)
	}
	chosen := &MoveTask{ID: "t", Selection: &Selection{Filter: "f"}}
	if got := chosen.encode()[0]; got != 3 {
		t.Errorf("a task with a selection has version %d", got)
	}
	for _, want := range []*MoveTask{plain, back, chosen} {
		if got, err := decodeMoveTask(want.encode()); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v is read as %+v, %v", want, got, err)
		}
	}
	newer := back.encode()
	newer[0] = 4
	if _, err := decodeMoveTask(newer); !errors.Is(err, errRecordNewVersion) {
		t.Errorf("version 4: %v", err)
	}
}
