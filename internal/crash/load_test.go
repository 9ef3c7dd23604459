package crash

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// The queues that are there from the beginning.
var (
	deadLetterQueues = []spec{
		{name: "work-dead"},
		{name: "steps-dead.fifo"},
	}
	standingQueues = slices.Concat(deadLetterQueues, []spec{
		{name: "plain"},
		{name: "orders.fifo"},
		{name: "work", dead: "work-dead", maxReceives: 2},
		{name: "steps.fifo", dead: "steps-dead.fifo", maxReceives: 2},
	})
)

// load is everybody who uses the service.
type load struct {
	workers []worker
	tenant  *tenant
}

// newLoad returns the workers of a run. Only patient consumers wait for messages.
func newLoad(rng *rand.Rand, patient bool) *load {
	l := &load{}
	source := func() *rand.Rand { return rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64())) }
	label := func(role string) string { return fmt.Sprintf("%s%d", role, len(l.workers)) }
	for _, q := range standingQueues {
		fails, idle := 30, 0
		switch q.name {
		case "work", "steps.fifo":
			fails = 70
		case "orders.fifo":
			l.workers = append(l.workers,
				&producer{label: label("producer"), queue: q, rng: source()},
				&consumer{label: label("consumer"), queue: q, rng: source(), fails: fails})
		}
		if isDeadLetterQueue(q.name) {
			fails, idle = 80, 95 // something is to be left for the move tasks
		} else {
			l.workers = append(l.workers, &producer{label: label("producer"), queue: q, rng: source()})
		}
		l.workers = append(l.workers,
			&consumer{label: label("consumer"), queue: q, rng: source(), fails: fails, idle: idle, patient: patient})
	}
	l.tenant = &tenant{label: label("tenant"), rng: source()}
	l.workers = append(l.workers, l.tenant,
		&redriver{label: label("redriver"), rng: source(), tasks: make(map[string]string)})
	return l
}

func isDeadLetterQueue(name string) bool {
	return slices.ContainsFunc(deadLetterQueues, func(q spec) bool { return q.name == name })
}

// queues returns the queues that should exist, those before their dead-letter
// queues that have one.
func (l *load) queues() []spec {
	sources := slices.DeleteFunc(slices.Clone(standingQueues), func(q spec) bool { return isDeadLetterQueue(q.name) })
	return slices.Concat(sources, l.tenant.made, deadLetterQueues)
}
