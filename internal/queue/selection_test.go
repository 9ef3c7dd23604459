package queue

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// A task that selects messages takes many small steps, also where it has to bring a long line to its head, and goes on
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
	for ; r.engine.queues[1].tasks[0].Status == MoveRunning; steps++ {
		if steps%3 == 1 {
			r.load()
		}
		if err := r.transact((*Engine).Advance); err != nil {
			t.Fatal(err)
		}
	}
	if steps < 10 {
		t.Errorf("it took %d steps", steps)
	}
	task := r.engine.queues[1].tasks[0]
	if task.Moved != 5 || task.Scanned != messages || len(task.Results) != 5 {
		t.Errorf("the task is %+v", task)
	}
	var moved []string
	for _, m := range r.stored(2) {
		moved = append(moved, m.Body)
	}
	slices.Sort(moved)
	if want := []string{"0499 chosen", "0999 chosen", "1499 chosen", "1700 chosen", "1999 chosen"}; !slices.Equal(moved, want) {
		t.Errorf("%q were moved", moved)
	}
	if n := len(r.stored(1)); n != messages-5 {
		t.Errorf("%d are left", n)
	}
}
