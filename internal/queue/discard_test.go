package queue

import (
	"fmt"
	"testing"
	"time"
)

// A message far back in a long line is discarded in many small steps, each in its own transaction. The other messages
// stay.
func TestDiscardInSteps(t *testing.T) {
	t.Parallel()
	const messages = 2000
	r := newRig(t)
	defer r.close()
	r.configure(Config{ID: 1, ARN: "q", Visibility: time.Minute, Retention: time.Hour})
	var out []Outgoing
	for i := range messages {
		out = append(out, Outgoing{Body: fmt.Sprint(i), ID: MessageID{byte(i >> 8), byte(i)}})
	}
	if err := r.transact(func(e *Engine) error { _, err := e.Send(1, out); return err }); err != nil {
		t.Fatal(err)
	}
	last := Located{Position: messages, ID: out[messages-1].ID}
	for steps := 0; ; steps++ {
		var results []bool
		err := r.transact(func(e *Engine) (err error) {
			results, err = e.Discard(1, []Located{last})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(results) == 0 {
			continue
		}
		if !results[0] || steps < messages/selectionWork-1 {
			t.Errorf("discarded %v after %d steps", results[0], steps)
		}
		break
	}
	if n := len(r.stored(1)); n != messages-1 {
		t.Errorf("%d messages are left", n)
	}
}

// Changes between the look and the discard count: a deleted message is not discarded. Nor is one that has become an
// indexed message, but the next look finds it.
func TestDiscardIsConfirmed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	defer r.close()
	r.configure(Config{ID: 1, ARN: "q", Visibility: time.Minute, Retention: time.Hour})
	var out []Outgoing
	var ids []MessageID
	for i := range 3 {
		ids = append(ids, MessageID{byte(i + 1)})
		out = append(out, Outgoing{Body: fmt.Sprint(i), ID: ids[i]})
	}
	if err := r.do(func(e *Engine) error { _, err := e.Send(1, out); return err }); err != nil {
		t.Fatal(err)
	}
	look, err := r.engine.Look(1)
	if err != nil {
		t.Fatal(err)
	}
	before, err := look.Locate(r.store, Locate{IDs: ids}, func(int) bool { return true })
	if err != nil || len(before.Messages) != 3 || before.More {
		t.Fatalf("found %+v, %v", before, err)
	}
	if gone := r.discard(1, ids[1:2]); len(gone) != 1 { // the first becomes an indexed one
		t.Fatalf("discarded %v", gone)
	}
	var results []bool
	err = r.do(func(e *Engine) (err error) { results, err = e.Discard(1, before.Messages); return err })
	if err != nil || len(results) != 3 || results[0] || results[1] || !results[2] {
		t.Errorf("discarded %v, %v", results, err)
	}
	if gone := r.discard(1, ids); len(gone) != 1 || gone[0] != ids[0] {
		t.Errorf("then discarded %v", gone)
	}
}

// A discard in the middle of the line turns the messages in front of it into indexed ones. A running task that has not
// reached them still moves them, and leaves messages that were sent after its start.
func TestDiscardBesideTask(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	defer r.close()
	r.configure(Config{ID: 1, ARN: "q", Visibility: time.Minute, Retention: time.Hour})
	r.configure(Config{ID: 2, ARN: "to", Visibility: time.Minute, Retention: time.Hour})
	send := func(out ...Outgoing) {
		t.Helper()
		if err := r.transact(func(e *Engine) error { _, err := e.Send(1, out); return err }); err != nil {
			t.Fatal(err)
		}
	}
	discarded := MessageID{3}
	send(Outgoing{Body: "a"}, Outgoing{Body: "b"}, Outgoing{Body: "c", ID: discarded}, Outgoing{Body: "d"})
	task := MoveTask{ID: "t", Destination: "to", Selection: &Selection{Filter: "-x"}}
	if err := r.transact(func(e *Engine) error { return e.StartMove(1, task) }); err != nil {
		t.Fatal(err)
	}
	r.now = r.now.Add(time.Second)
	send(Outgoing{Body: "late", Delay: new(time.Millisecond)})
	if gone := r.discard(1, []MessageID{discarded}); len(gone) != 1 {
		t.Fatalf("discarded %v", gone)
	}
	r.advance(time.Second)
	if left, moved := len(r.stored(1)), len(r.stored(2)); left != 1 || moved != 3 {
		t.Errorf("%d messages are left, %d were moved", left, moved)
	}
}
