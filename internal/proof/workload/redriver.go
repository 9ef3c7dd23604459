package workload

import (
	"math/rand/v2"
	"time"

	"github.com/sluicemq/sluice/internal/proof/history"
)

// redriver starts message move tasks that redrive dead-letter queues, and cancels some.
type redriver struct {
	label  string
	rng    *rand.Rand
	queues []history.Queue
	tasks  map[string]string // by queue, those that may be running
	last   time.Duration
}

func (d *redriver) Name() string { return d.label }

func (d *redriver) Step(r *Recorder) {
	r.Sleep(pause)
	if r.Now()-d.last < 100*time.Millisecond {
		return
	}
	d.last = r.Now()
	queue := d.queues[d.rng.IntN(len(d.queues))].Name
	if task := d.tasks[queue]; task != "" && d.rng.IntN(2) == 0 {
		delete(d.tasks, queue)
		_ = r.cancel(queue, task) // the history knows
		return
	}
	rates := []int{0, 20, 500}
	if task, err := r.move(queue, rates[d.rng.IntN(len(rates))]); err == nil {
		d.tasks[queue] = task
	}
}
