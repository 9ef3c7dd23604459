package workload

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/proof/history"
)

// Options configures a load.
type Options struct {
	Label     string          // begins the names of the workers, and so those of their messages
	Queues    []history.Queue // that are there from the beginning; nil: Queues(1)
	Topics    []history.Topic // likewise, of some of the queues; nil: Topics(1) if Queues is nil
	Producers int             // of each queue that is not a dead-letter queue; 0: one
	Consumers int             // of each queue; 0: one
	Patient   bool            // consumers wait for messages
	Longest   time.Duration   // visibility timeout; 0: two seconds
	Clerks    int             // that make and change resources; the service is a Registry then
	Undoes    bool            // purges and deletions are undone sometimes; the service is an Undoer then
}

// Queues returns n sets of queues, each with a queue of every kind. One in two
// of the plain FIFO queues keeps its order and ids by message group.
func Queues(n int) []history.Queue {
	var out []history.Queue
	for i := range n {
		number := ""
		if i > 0 {
			number = fmt.Sprint(i + 1)
		}
		out = append(out,
			history.Queue{Name: "work-dead" + number},
			history.Queue{Name: "steps-dead" + number + ".fifo"},
			history.Queue{Name: "plain" + number},
			history.Queue{Name: "orders" + number + ".fifo"},
			history.Queue{Name: "events" + number + ".fifo", Scoped: true},
			history.Queue{Name: "work" + number, Dead: "work-dead" + number, MaxReceives: 2},
			history.Queue{Name: "steps" + number + ".fifo", Dead: "steps-dead" + number + ".fifo", MaxReceives: 2})
	}
	return out
}

// Topics returns the topics of n sets of queues: a standard one and a FIFO one for each.
func Topics(n int) []history.Topic {
	var out []history.Topic
	for i := range n {
		number := ""
		if i > 0 {
			number = fmt.Sprint(i + 1)
		}
		out = append(out,
			history.Topic{Name: "news" + number, Queues: []string{"plain" + number, "work" + number}},
			history.Topic{Name: "feed" + number + ".fifo", Queues: []string{
				"orders" + number + ".fifo", "events" + number + ".fifo", "steps" + number + ".fifo", "plain" + number,
			}})
	}
	return out
}

// IsDead reports whether a queue of that name is a dead-letter queue.
func IsDead(name string) bool { return strings.Contains(name, "-dead") }

// Load is the crowd of all users of the service.
type Load struct {
	Workers  []Worker
	standing []history.Queue
	topics   []history.Topic
	tenant   *tenant
	clerks   []*clerk
}

// New returns a load.
func New(rng *rand.Rand, o Options) *Load {
	if o.Queues == nil {
		o.Queues, o.Topics = Queues(1), Topics(1)
	}
	o.Producers, o.Consumers, o.Longest = max(o.Producers, 1), max(o.Consumers, 1), max(o.Longest, 2*time.Second)
	l := &Load{standing: o.Queues, topics: o.Topics}
	source := func() *rand.Rand { return rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64())) }
	label := func(role string) string { return fmt.Sprintf("%s%s%d", o.Label, role, len(l.Workers)) }
	for _, q := range o.Queues {
		producers, consumers, fails, idle := o.Producers, o.Consumers, 30, 0
		switch {
		case IsDead(q.Name):
			producers, consumers, fails, idle = 0, 1, 80, 95 // something is to be left for the move tasks
		case q.Dead != "":
			fails = 70
		case history.IsFIFO(q.Name):
			// These queues test the order of several groups.
			producers, consumers = max(producers, 2), max(consumers, 2)
		}
		for range producers {
			l.Workers = append(l.Workers, &producer{label: label("producer"), queue: q, rng: source()})
		}
		for range consumers {
			l.Workers = append(l.Workers, &consumer{
				label: label("consumer"), queue: q, rng: source(), fails: fails, idle: idle, patient: o.Patient,
				longest: o.Longest,
			})
		}
	}
	for _, t := range o.Topics {
		for range o.Producers {
			l.Workers = append(
				l.Workers,
				&producer{label: label("publisher"), queue: history.Queue{Name: t.Name}, topic: true, rng: source()},
			)
		}
	}
	l.tenant = &tenant{label: label("tenant"), prefix: o.Label, rng: source(), undoes: o.Undoes}
	l.Workers = append(l.Workers, l.tenant,
		&redriver{label: label("redriver"), rng: source(), queues: l.dead(), tasks: make(map[string]string)})
	for range o.Clerks {
		c := newClerk(label("clerk"), source())
		c.undoes = o.Undoes
		l.clerks = append(l.clerks, c)
		l.Workers = append(l.Workers, c)
	}
	return l
}

// Establish creates the queues and topics that exist from the beginning.
func (l *Load) Establish(r *Recorder) error {
	for _, q := range l.standing {
		if err := r.Create(q); err != nil {
			return fmt.Errorf("create %s: %w", q.Name, err)
		}
	}
	for _, t := range l.topics {
		if err := r.createTopic(t); err != nil {
			return fmt.Errorf("create topic %s: %w", t.Name, err)
		}
	}
	return nil
}

// Standing returns the queues that exist from the beginning.
func (l *Load) Standing() []history.Queue { return l.standing }

// Topics returns the topics that exist from the beginning.
func (l *Load) Topics() []history.Topic { return l.topics }

// dead returns the dead-letter queues.
func (l *Load) dead() []history.Queue {
	return slices.DeleteFunc(slices.Clone(l.standing), func(q history.Queue) bool { return !IsDead(q.Name) })
}

// Queues returns the queues that should exist, those before their dead-letter
// queues that have one.
func (l *Load) Queues() []history.Queue {
	sources := slices.DeleteFunc(slices.Clone(l.standing), func(q history.Queue) bool { return IsDead(q.Name) })
	queues := slices.Concat(sources, l.tenant.made, l.dead())
	for _, c := range l.clerks {
		queues = append(queues, c.queues()...)
	}
	return queues
}

// Inspect looks up, at the node that e picks, all resources that the load has ever created.
func (l *Load) Inspect(e *Ending) {
	for _, c := range l.clerks {
		c.inspect(e)
	}
}
