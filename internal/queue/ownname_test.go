package queue

import (
	"fmt"
	"testing"
	"time"
)

// The remains of many deleted queues are removed in transactions of bounded size, and not while the engine is loaded.
func TestLeftoversAreRemovedInSteps(t *testing.T) {
	r := newRig(t)
	defer r.close()
	const queues = 40
	for id := ID(1); id <= queues; id++ {
		r.configure(Config{ID: id, ARN: fmt.Sprint(id), Retention: time.Hour})
		err := r.do(func(e *Engine) error { _, err := e.Send(id, []Outgoing{{Body: "b"}}); return err })
		if err != nil {
			t.Fatal(err)
		}
	}
	for id := ID(1); id <= queues; id++ {
		r.forget(id)
	}
	r.load()
	if n := len(r.engine.remains.deleted); n != queues {
		t.Fatalf("%d of %d queues are left after loading", n, queues)
	}
	steps := 0
	for ; r.engine.NextWake() <= r.now; steps++ {
		if err := r.transact(func(e *Engine) error { e.Limit(200); return e.Advance() }); err != nil {
			t.Fatal(err)
		}
	}
	if steps < 3 || len(r.engine.remains.deleted) > 0 {
		t.Errorf("%d queues are left after %d steps", len(r.engine.remains.deleted), steps)
	}
	r.load()
	if n := len(r.engine.remains.deleted); n > 0 {
		t.Errorf("%d queues have data", n)
	}
}
