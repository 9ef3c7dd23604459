package queue

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// A task that selects messages takes many small steps, even where it has to move a long line to its head, and continues
// where it was after a restart.
func TestSelectionInSteps(t *testing.T) {
	t.Parallel()
	const messages = 2000
	r := newRig(t)
	defer r.close()
	r.configure(Config{ID: 1, ARN: "from", Visibility: time.Minute, Retention: time.Hour})
	r.configure(Config{ID: 2, ARN: "to", Visibility: time.Minute, Retention: time.Hour})
	var out []Outgoing
	for i := range messages {
		body := fmt.Sprintf("%04d", i)
		if i%500 == 499 || i == messages-300 {
			body += " chosen"
		}
		out = append(out, Outgoing{Body: body, ID: MessageID{byte(i >> 8), byte(i)}})
	}
	if err := r.transact(func(e *Engine) error { _, err := e.Send(1, out); return err }); err != nil {
		t.Fatal(err)
	}
	start := func(e *Engine) error {
		return e.StartMove(1, MoveTask{ID: "t", Destination: "to", Selection: &Selection{Filter: "chosen"}})
	}
	if err := r.transact(start); err != nil {
		t.Fatal(err)
	}
	steps := 0
	for ; r.engine.queues[1].moves.tasks[0].Status == MoveRunning; steps++ {
		if steps%3 == 1 {
			r.load()
		}
		r.search()
		if err := r.transact((*Engine).Advance); err != nil {
			t.Fatal(err)
		}
	}
	if steps < 10 {
		t.Errorf("it took %d steps", steps)
	}
	task := r.engine.queues[1].moves.tasks[0]
	if task.Moved != 5 || task.Scanned != messages || len(task.Results) != 5 {
		t.Errorf("the task is %+v", task)
	}
	var moved []string
	for _, m := range r.stored(2) {
		moved = append(moved, m.Body)
	}
	slices.Sort(moved)
	if want := []string{"0499 chosen", "0999 chosen", "1499 chosen", "1700 chosen", "1999 chosen"}; !slices.Equal(moved,
		want) {
		t.Errorf("%q were moved", moved)
	}
	if n := len(r.stored(1)); n != messages-5 {
		t.Errorf("%d messages are left", n)
	}
}

// Changes between a search and the move count: a deleted message is not moved, one in flight is reported as not
// visible, and one that was received and is visible again is checked again, with its new receive count.
func TestFoundIsConfirmed(t *testing.T) {
	t.Parallel()
	for filter, moved := range map[string]uint64{"chosen": 4, "chosen count<1": 3} {
		r := newRig(t)
		r.configure(Config{ID: 1, ARN: "from", Visibility: time.Minute, Retention: time.Hour})
		r.configure(Config{ID: 2, ARN: "to", Visibility: time.Minute, Retention: time.Hour})
		var out []Outgoing
		for i := range 6 {
			out = append(out, Outgoing{Body: fmt.Sprint(i, " chosen"), ID: MessageID{byte(i + 1)}})
		}
		steps := []func(e *Engine) error{
			func(e *Engine) error { _, err := e.Send(1, out); return err },
			func(e *Engine) error {
				return e.StartMove(1, MoveTask{ID: "t", Destination: "to", Selection: &Selection{Filter: filter}})
			},
		}
		for _, step := range steps {
			if err := r.transact(step); err != nil {
				t.Fatal(err)
			}
		}
		s, ok := r.engine.Search(1)
		if ids := r.engine.Searches(); !ok || !slices.Equal(ids, []ID{1}) {
			t.Fatalf("the task wants no search: %v %v", ok, ids)
		}
		f := r.runSearch(s)
		err := r.transact(func(e *Engine) error {
			got, err := e.Receive(1, Receive{Max: 3})
			if err != nil || len(got) != 3 {
				t.Fatal(got, err)
			}
			receipt := func(i int) Receipt { return Receipt{Position: got[i].Position, Number: got[i].Receipt} }
			if _, err := e.Delete(1, []Receipt{receipt(1)}); err != nil {
				return err
			}
			_, err = e.ChangeVisibility(1, []Visibility{{Receipt: receipt(2)}})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.do(func(e *Engine) error { e.Supply(1, f); return nil }); err != nil {
			t.Fatal(err)
		}
		wantSkipped := uint64(1)
		if moved == 3 {
			wantSkipped = 0 // its receive count also excludes the one that is in flight
		}
		task := r.engine.queues[1].moves.tasks[0]
		if task.Status != MoveCompleted || task.Moved != moved || task.Skipped != wantSkipped ||
			len(r.stored(2)) != int(moved) {
			t.Errorf("%s: the task is %+v", filter, task)
		}
		r.close()
	}
}

// The results for a task that has ended are not used for the next task, which searches again.
func TestFoundForAnotherTask(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	defer r.close()
	r.configure(Config{ID: 1, ARN: "from", Visibility: time.Minute, Retention: time.Hour})
	r.configure(Config{ID: 2, ARN: "to", Visibility: time.Minute, Retention: time.Hour})
	start := func(id, filter string) func(e *Engine) error {
		return func(e *Engine) error {
			return e.StartMove(1, MoveTask{ID: id, Destination: "to", Selection: &Selection{Filter: filter}})
		}
	}
	out := []Outgoing{{Body: "a", ID: MessageID{1}}, {Body: "b", ID: MessageID{2}}}
	var f Found
	for _, step := range []func(e *Engine) error{
		func(e *Engine) error { _, err := e.Send(1, out); return err }, start("t", "a"),
		func(e *Engine) error {
			s, _ := e.Search(1)
			f = r.runSearch(s)
			_, err := e.CancelMove(1, "t")
			return err
		},
		start("u", "b"),
	} {
		if err := r.transact(step); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.do(func(e *Engine) error { e.Supply(1, f); return nil }); err != nil {
		t.Fatal(err)
	}
	r.advance(time.Second)
	for _, m := range r.stored(2) {
		if m.Body != "b" {
			t.Errorf("%s was moved", m.Body)
		}
	}
	if task := r.engine.queues[1].moves.tasks[1]; task.Moved != 1 || task.Status != MoveCompleted {
		t.Errorf("the second task is %+v", task)
	}
}
