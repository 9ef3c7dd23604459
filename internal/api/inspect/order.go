package inspect

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
)

// maxOrdered limits how many queues are ordered, or selected, by their states. Each page reads all of them, at about 5
// µs per queue without messages, and keeps them in memory during the request, at about 1 KB per queue.
const maxOrdered = 20_000

// orderedAtOnce is how many such requests the server works on at a time. Accounts take turns.
const orderedAtOnce = 2

// orders are the sort keys of lists, as numbers in ascending order.
var orders = map[string]func(*seenQueue) (int64, int64){
	"QueueName": func(*seenQueue) (int64, int64) { return 0, 0 },
	"Fifo": func(q *seenQueue) (int64, int64) {
		if q.Attributes.FIFO {
			return 1, 0
		}
		return 0, 0
	},
	"Attention":              (*seenQueue).attention,
	"Visible":                ofState(func(st *listedState) int64 { return st.Visible }),
	"InFlight":               ofState(func(st *listedState) int64 { return st.InFlight }),
	"Delayed":                ofState(func(st *listedState) int64 { return st.Delayed }),
	"DeadLetters":            ofState(func(st *listedState) int64 { return orNone(st.DeadLetters) }),
	"WaitingReceives":        ofState(func(st *listedState) int64 { return st.WaitingReceives }),
	"OldestMessageTimestamp": ofState(func(st *listedState) int64 { return orNone(st.OldestMessageTimestamp) }),
	"LastSendTimestamp":      ofState(func(st *listedState) int64 { return orNone(st.LastSendTimestamp) }),
	"LastReceiveTimestamp":   ofState(func(st *listedState) int64 { return orNone(st.LastReceiveTimestamp) }),
	"CreatedTimestamp":       ofState(func(st *listedState) int64 { return st.CreatedTimestamp }),
}

// none is less than any number of messages and any time.
const none = -1

func orNone(n *int64) int64 {
	if n == nil {
		return none
	}
	return *n
}

// ofState orders by a number of the state. Queues whose states are not known or not shown have none.
func ofState(number func(*listedState) int64) func(*seenQueue) (int64, int64) {
	return func(q *seenQueue) (int64, int64) {
		if q.state == nil {
			return none, 0
		}
		return number(q.state), 0
	}
}

// selections are the conditions by which lists can be filtered. Conditions on the state omit queues whose states are
// unknown or hidden.
var selections = map[string]func(*seenQueue) bool{
	"Fifo":             func(q *seenQueue) bool { return q.Attributes.FIFO },
	"Standard":         func(q *seenQueue) bool { return !q.Attributes.FIFO },
	"NotEmpty":         inState(func(st *listedState) bool { return st.Visible+st.InFlight+st.Delayed > 0 }),
	"Paused":           inState(func(st *listedState) bool { return st.Paused }),
	"NoConsumer":       inState(func(st *listedState) bool { return st.Condition == conditionNoConsumer }),
	"DeadLetters":      inState(func(st *listedState) bool { return orNone(st.DeadLetters) > 0 }),
	"DeadLetterQueues": inState(func(st *listedState) bool { return st.DeadLetterSources > 0 }),
}

func inState(holds func(*listedState) bool) func(*seenQueue) bool {
	return func(q *seenQueue) bool { return q.state != nil && holds(q.state) }
}

// seenQueue is a queue with the state that the caller may see, and its sort key.
type seenQueue struct {
	*catalog.Queue
	sum         *glance // nil if the caller may not know it
	state       *listedState
	unavailable bool
	place       place
}

// place is where a queue is in an order: by two numbers, and then by a name.
type place struct {
	first, second int64
	name          string
	named         bool // there are no numbers
}

func (p *place) compare(other *place) int {
	if c := cmp.Compare(p.first, other.first); c != 0 {
		return c
	}
	if c := cmp.Compare(p.second, other.second); c != 0 {
		return c
	}
	return strings.Compare(p.name, other.name)
}

// key returns a text that sorts as the place does, for cursors.
func (p *place) key() string {
	if p.named {
		return p.name
	}
	const sign = 1 << 63
	return fmt.Sprintf("%016x%016x%s", uint64(p.first)^sign, uint64(p.second)^sign, p.name)
}

// checkOrder refuses an order or a selection that does not exist.
func (in *listQueueStatesInput) checkOrder() error {
	if in.OrderBy == "" {
		if in.Descending {
			return protocol.ValidationError("Descending needs OrderBy.")
		}
	} else if orders[in.OrderBy] == nil {
		return protocol.ValidationError("OrderBy is %q; it must be one of %s.", in.OrderBy, names(orders))
	}
	if in.Only != "" && selections[in.Only] == nil {
		return protocol.ValidationError("Only is %q; it must be one of %s.", in.Only, names(selections))
	}
	return nil
}

func names[F any](of map[string]F) string {
	return strings.Join(slices.Sorted(maps.Keys(of)), ", ")
}

// looksAtAll reports whether a page needs the states of all queues.
func (in *listQueueStatesInput) looksAtAll() bool { return in.OrderBy != "" || in.Only != "" }

// order returns the requested queues in the requested order. Queues with the same number are in order of their names,
// in both directions.
func (l *queueLister) order(ctx context.Context, in *listQueueStatesInput, all []*catalog.Queue) ([]*seenQueue, error) {
	if len(all) > maxOrdered {
		return nil, errTooManyQueues(len(all))
	}
	give, err := l.ordering.Take(ctx, service.Caller(l.call).Account)
	if err != nil {
		return nil, failure(err)
	}
	defer give()
	if err := l.ask(ctx, all); err != nil {
		return nil, failure(err)
	}
	by, selected := orders[in.OrderBy], selections[in.Only]
	list := make([]*seenQueue, 0, len(all))
	for _, q := range all {
		seen := l.see(q)
		if selected != nil && !selected(seen) {
			continue
		}
		seen.place = seen.placed(by, in)
		list = append(list, seen)
	}
	slices.SortFunc(list, func(a, b *seenQueue) int { return a.place.compare(&b.place) })
	return list, nil
}

// placed returns the queue with its sort key in the requested order; by is nil if there is only a selection.
func (q *seenQueue) placed(by func(*seenQueue) (int64, int64), in *listQueueStatesInput) place {
	name := q.Name.Queue
	if by == nil || in.OrderBy == "QueueName" {
		if in.Descending {
			name = reversed(name)
		}
		return place{name: name, named: true}
	}
	first, second := by(q)
	if in.Descending {
		first, second = ^first, ^second
	}
	return place{first: first, second: second, name: name}
}

// reversed returns a text that sorts the other way round. Names have no byte beyond ASCII.
func reversed(name string) string {
	b := []byte(name)
	for i := range b {
		b[i] ^= 0xff
	}
	return string(b) + "\xff" // after all longer names with this prefix
}

// queueSums adds up the queues whose states the caller may see, on all pages.
type queueSums struct {
	Visible, InFlight, Delayed int64
	LastMinute                 queueActivity
}

func sumsOf(list []*seenQueue) *queueSums {
	sums := new(queueSums)
	for i := range list {
		st := list[i].state
		if st == nil {
			continue
		}
		sums.Visible += st.Visible
		sums.InFlight += st.InFlight
		sums.Delayed += st.Delayed
		if m := st.LastMinute; m != nil {
			sums.LastMinute.Sent += m.Sent
			sums.LastMinute.Received += m.Received
			sums.LastMinute.EmptyReceives += m.EmptyReceives
			sums.LastMinute.Deleted += m.Deleted
			sums.LastMinute.Expired += m.Expired
			sums.LastMinute.DeadLettered += m.DeadLettered
			sums.LastMinute.Moved += m.Moved
		}
	}
	return sums
}
