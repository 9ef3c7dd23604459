package queue

import (
	"errors"
	"testing"
	"time"
)

// A shard that has agreed to an undo does not refuse it later: the undo may have begun on other shards.
func TestAgreedUndoIsNotRefused(t *testing.T) {
	t.Parallel()
	task := MoveTask{ID: "task", Destination: "to", Rate: 1}
	for name, between := range map[string]func(*testing.T, *rig){
		"a task starts": func(t *testing.T, r *rig) {
			if err := r.do(func(e *Engine) error { return e.StartMove(1, task) }); !errors.Is(err, ErrTaskRunning) {
				t.Errorf("the task gets %v", err)
			}
		},
		"messages are received": func(t *testing.T, r *rig) {
			for range 3 {
				err := r.do(func(e *Engine) error { _, err := e.Receive(1, Receive{Max: 2}); return err })
				if err != nil {
					t.Fatal(err)
				}
			}
		},
		"its time is over": func(_ *testing.T, r *rig) {
			r.now = epoch.Add(UndoInterval + time.Second)
			r.drain()
		},
		"the disk is full": func(t *testing.T, r *rig) {
			if err := r.do(func(e *Engine) error { e.ForgetPurged(); return nil }); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := agreedToUndo(t)
			defer r.close()
			between(t, r)
			var got Kept
			err := r.do(func(e *Engine) (err error) { got, err = e.UndoPurge(1); return err })
			if err != nil || got.Messages != 3 {
				t.Errorf("the undo restores %+v, %v", got, err)
			}
		})
	}
}

// An agreement ends soon, or with the undo.
func TestAgreementToUndoEnds(t *testing.T) {
	t.Parallel()
	start := func(e *Engine) error { return e.StartMove(1, MoveTask{ID: "task", Destination: "to", Rate: 1}) }
	r := agreedToUndo(t)
	defer r.close()
	r.now = r.now.Add(undoPromise)
	if err := r.do(start); err != nil {
		t.Errorf("later, the task gets %v", err)
	}
	undone := agreedToUndo(t)
	defer undone.close()
	if err := undone.do(func(e *Engine) error { _, err := e.UndoPurge(1); return err }); err != nil {
		t.Fatal(err)
	}
	if err := undone.do(start); err != nil {
		t.Errorf("after the undo, the task gets %v", err)
	}
}

// agreedToUndo returns a rig with a purged queue, which has agreed to an undo a second before UndoInterval is over.
func agreedToUndo(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	r.kept = true
	r.reload()
	r.configure(Config{ID: 1, ARN: "jobs", Retention: time.Hour, Visibility: time.Hour, MaxInFlight: 4})
	r.configure(Config{ID: 2, ARN: "to", Retention: time.Hour})
	for _, f := range []func(*Engine) error{
		func(e *Engine) error {
			_, err := e.Send(1, []Outgoing{{Body: "1"}, {Body: "2"}, {Body: "3"}})
			return err
		},
		func(e *Engine) error { _, err := e.Receive(1, Receive{Max: 2}); return err },
		func(e *Engine) error { _, err := e.Purge(Purging{Queue: 1}); return err },
		func(e *Engine) error {
			_, err := e.Send(1, []Outgoing{{Body: "4"}, {Body: "5"}, {Body: "6"}})
			return err
		},
	} {
		if err := r.do(f); err != nil {
			t.Fatal(err)
		}
	}
	r.now = epoch.Add(UndoInterval - time.Second)
	if err := r.do(func(e *Engine) error { return e.MayUndoPurge(1) }); err != nil {
		t.Fatal(err)
	}
	return r
}
