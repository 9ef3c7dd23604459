package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

const (
	defaultQueues = 50
	maxQueues     = 200
)

// A page reads its queues and their dead-letter queues.
const _ = uint(shard.MaxGlances - 2*maxQueues)

type listQueueStatesInput struct {
	Prefix   string `max:"256"` // of the names
	Contains string `max:"256"` // in the names, in any case
	Cursor   string `max:"4096"`
	Skip     int32  // queues that come before the first of the answer
	Max      *int32
	Since    string `max:"2048"` // Version of an answer to the same request, which the caller has

	OrderBy    string `max:"32"` // see orders; empty: by name
	Descending bool
	Only       string `max:"32"` // see selections; empty: all
}

type listQueueStatesOutput struct {
	Queues    []listedQueue `json:",always"`    // without those that are as in the answer of Since
	Unchanged int64         `json:",omitempty"` // how many these are
	Version   string        `json:",omitempty"` // for Since; empty: still that one
	Cursor    string        `json:",omitempty"` // where to continue; empty: there are no more
	Total     int64         // requested queues, on all pages
	Matches   *int64        // with Only: how many of these it selects
	Sums      *queueSums    // with OrderBy or Only: of these, or of those that Only selects
	Timestamp int64         // milliseconds, as all: when the server has answered
}

type listedQueue struct {
	QueueName   string
	QueueUrl    string
	QueueArn    string
	Fifo        bool
	State       *listedState // nil if the caller may not see it, or if it is not known now
	Unavailable bool         `json:",omitempty"` // it is not known now
}

// listedState is the state of a queue in a list; see describeQueueStateOutput.
type listedState struct {
	CreatedTimestamp          int64
	Encryption                string // Disabled, SSE-SQS or SSE-KMS
	ContentBasedDeduplication bool
	Visible                   int64 // including messages on their way from other shards
	InFlight                  int64
	Delayed                   int64
	Arriving                  int64 // of the visible, those that are on their way
	OldestMessageTimestamp    *int64
	LastSendTimestamp         *int64
	LastReceiveTimestamp      *int64
	WaitingReceives           int64
	Receivable                bool
	Paused                    bool
	Condition                 string   // in a word; see conditionOf
	Reasons                   []reason `json:",always"`
	DeadLetterQueueArn        string   `json:",omitempty"`
	DeadLetters               *int64
	DeadLetterSources         int64          // queues whose dead-letter queue this is
	LastMinute                *queueActivity // the last that is over; nil if the queue was not active then
	Totals                    queueActivity  // since the server, or the owner of a shard, was started
}

// queueActivity is how often something has happened.
type queueActivity struct {
	Sent, Received, EmptyReceives, Deleted, Expired, DeadLettered, Moved int64
}

// listQueueStates lists the caller's queues with their states, for a page that refreshes often: it calls each shard
// once. A queue whose state the caller may not see has only a name. In order of names, it reads only the queues of the
// page; for another order, or a selection, it reads all of them.
func (s *inspector) listQueueStates(
	ctx context.Context, c *protocol.Call, in *listQueueStatesInput,
) (*listQueueStatesOutput, error) {
	if service.Anonymous(c) {
		return nil, service.Denied(c)
	}
	account := service.Caller(c).Account
	if err := s.authorizer.Authorize(
		c, service.Subject{Resource: service.ARN("*"), Owner: account}, "sluice:ListQueueStates",
	); err != nil {
		return nil, err
	}
	most, err := in.check()
	if err != nil {
		return nil, err
	}
	contains := strings.ToLower(in.Contains)
	sources := make(map[string]int64)
	all := s.catalog.List(account, c.Region, func(q *catalog.Queue) bool {
		if r := q.Attributes.Redrive; r != nil {
			sources[r.Target]++
		}
		return strings.HasPrefix(q.Name.Queue, in.Prefix) && strings.Contains(strings.ToLower(q.Name.Queue), contains)
	})
	l := newQueueLister(s, c, sources)
	out := &listQueueStatesOutput{Total: int64(len(all))}
	if in.looksAtAll() {
		list, err := l.order(ctx, in, all)
		if err != nil {
			return nil, err
		}
		if in.Only != "" {
			n := int64(len(list))
			out.Matches = &n
		}
		out.Sums = sumsOf(list)
		page, err := paged(in, list, func(q *seenQueue) string { return q.place.key() }, most)
		if err != nil {
			return nil, err
		}
		out.Queues, out.Cursor = service.Convert(page.Items, l.listed), page.Next
	} else {
		page, err := paged(in, all, func(q *catalog.Queue) string { return q.Name.Queue }, most)
		if err != nil {
			return nil, err
		}
		if err := l.ask(ctx, page.Items); err != nil {
			return nil, failure(err)
		}
		out.Queues = service.Convert(page.Items, func(q *catalog.Queue) listedQueue { return l.listed(l.see(q)) })
		out.Cursor = page.Next
	}
	out.Timestamp = s.authorizer.Now().UnixMilli()
	return out, out.leaveOut(in.Since)
}

// check refuses a request that makes no sense, and returns how many queues the answer has at most.
func (in *listQueueStatesInput) check() (most int, _ error) {
	most = defaultQueues
	if in.Max != nil {
		most = int(*in.Max)
	}
	if most < 1 || most > maxQueues {
		return 0, protocol.ValidationError("Max is %d; it must be between 1 and %d.", most, maxQueues)
	}
	if in.Skip < 0 {
		return 0, protocol.ValidationError("Skip is %d; it must be 0 or more.", in.Skip)
	}
	if in.Skip > 0 && in.Cursor != "" {
		return 0, protocol.ValidationError("Skip counts from the first queue: omit it with a Cursor.")
	}
	return most, in.checkOrder()
}

// paged returns the requested page of a list. A cursor contains the sort key of the last queue of the previous page:
// its number and name. So queues may change between two pages without an effect on the others.
func paged[T any](in *listQueueStatesInput, list []T, key func(T) string, most int) (service.Page[T], error) {
	about := in.Prefix + "/" + strings.ToLower(in.Contains)
	if in.looksAtAll() {
		about = fmt.Sprintf("%s/%t/%s\n%s", in.OrderBy, in.Descending, in.Only, about)
	}
	page, err := service.Paginate(list[min(int(in.Skip), len(list)):], key, in.Cursor, about, most)
	switch {
	case errors.Is(err, service.ErrOtherList):
		return page, protocol.ValidationError("Cursor is for another Prefix, Contains, OrderBy, Descending or Only.")
	case err != nil:
		return page, errCursor()
	}
	return page, nil
}

// queueLister makes one page of a list of queues.
type queueLister struct {
	*inspector
	call    *protocol.Call
	sources map[string]int64 // how many queues have the dead-letter queue of that ARN
	now     time.Time        // when the shards have answered
	may     map[queue.ID]bool
	sums    map[queue.ID]*glance
}

func newQueueLister(s *inspector, c *protocol.Call, sources map[string]int64) *queueLister {
	return &queueLister{inspector: s, call: c, sources: sources}
}

// ask reads the states of the queues, and of their dead-letter queues, as far as the caller may see them.
func (l *queueLister) ask(ctx context.Context, queues []*catalog.Queue) error {
	l.may = make(map[queue.ID]bool, len(queues))
	l.sums = make(map[queue.ID]*glance, len(queues))
	ids := make([]queue.ID, 0, len(queues))
	add := func(q *catalog.Queue) bool {
		if may, known := l.may[q.ID]; known {
			return may
		}
		may := l.allow(l.call, q.Name, q, "DescribeQueueState") == nil
		if l.may[q.ID] = may; may {
			ids = append(ids, q.ID)
		}
		return may
	}
	for _, q := range queues {
		if dead := l.deadLetterQueue(q); add(q) && dead != nil {
			add(dead)
		}
	}
	for some := range slices.Chunk(ids, shard.MaxGlances) {
		list, err := l.shard.Glances(ctx, some)
		if err != nil {
			return err
		}
		l.addUp(list)
	}
	l.now = l.authorizer.Now()
	return nil
}

// addUp adds up the shards' states of each queue. Each queue has one sum, which its own line uses, and the lines of all
// queues whose dead-letter queue it is.
func (l *queueLister) addUp(list []shard.Glance) {
	sums := make([]glance, 0, len(list)) // it never grows, because there are pointers into it
	for i := range list {
		g := &list[i]
		sum := l.sums[g.ID]
		if sum == nil {
			sums = append(sums, glance{})
			sum = &sums[len(sums)-1]
			l.sums[g.ID] = sum
		}
		sum.add(g)
	}
}

// deadLetterQueue returns the dead-letter queue of q, if it has one that exists.
func (s *inspector) deadLetterQueue(q *catalog.Queue) *catalog.Queue {
	if q.Attributes.Redrive == nil {
		return nil
	}
	n, _ := service.ParseQueueARN(q.Attributes.Redrive.Target)
	return s.catalog.Find(n)
}

// see returns the part of a queue's state that the caller may see.
func (l *queueLister) see(q *catalog.Queue) *seenQueue {
	out := &seenQueue{Queue: q}
	if !l.may[q.ID] {
		return out
	}
	if out.sum = l.sums[q.ID]; out.sum.known() {
		out.state = l.state(q, out.sum)
	} else {
		out.unavailable = true
	}
	return out
}

// listed returns the entry of a queue in the list.
func (l *queueLister) listed(q *seenQueue) listedQueue {
	if q.state != nil {
		q.state.Reasons = reasons(&q.sum.state, q.sum.arriving, q.PausedGroups, l.now)
	}
	return listedQueue{
		QueueName: q.Name.Queue, QueueUrl: l.url(q.Name), QueueArn: q.Name.ARN(), Fifo: q.Attributes.FIFO,
		State: q.state, Unavailable: q.unavailable,
	}
}

func (l *queueLister) url(n catalog.Name) string { return queueURL(l.call, l.publicURL, n) }

// queueURL returns the URL of a queue. It begins with base, or as the request was made.
func queueURL(c *protocol.Call, base string, n catalog.Name) string {
	if base == "" {
		base = c.Scheme + "://" + c.Host
	}
	return base + "/" + n.Account + "/" + n.Queue
}

// state returns the state of a queue from the sum over its shards, without the reasons.
func (l *queueLister) state(q *catalog.Queue, sum *glance) *listedState {
	st := &sum.state
	out := &listedState{
		CreatedTimestamp: q.Created.UnixMilli(), Encryption: encryptionOf(&q.Attributes),
		ContentBasedDeduplication: q.Attributes.ContentDedup,
		Visible:                   int64(st.Visible + sum.arriving), InFlight: int64(st.InFlight),
		Delayed:                int64(st.Delayed),
		Arriving:               int64(sum.arriving),
		OldestMessageTimestamp: instant(st.Oldest), LastSendTimestamp: instant(st.LastSend),
		LastReceiveTimestamp: instant(st.LastReceive),
		WaitingReceives:      int64(st.Waiters), Receivable: st.Receivable,
		Paused: st.Limited&queue.LimitedByPause != 0,
		Totals: sum.totals, LastMinute: sum.minute,
	}
	if len(l.sources) > 0 {
		out.DeadLetterSources = l.sources[q.Name.ARN()]
	}
	if q.Attributes.Redrive != nil {
		out.DeadLetterQueueArn = q.Attributes.Redrive.Target
	}
	if dead := l.deadLetterQueue(q); dead != nil {
		if letters := l.sums[dead.ID]; letters.known() {
			n := int64(letters.state.Visible + letters.state.InFlight + letters.state.Delayed + letters.arriving)
			out.DeadLetters = &n
		}
	}
	out.Condition = conditionOf(out, l.now)
	return out
}

// glance is what all shards know of a queue.
type glance struct {
	state       shard.State
	arriving    uint64
	totals      queueActivity
	minute      *queueActivity
	served      int  // shards that serve the queue
	unavailable bool // one of these does not answer
}

// known reports whether the state of a queue is known.
func (sum *glance) known() bool { return sum != nil && sum.served > 0 && !sum.unavailable }

// add adds what one shard knows.
func (sum *glance) add(g *shard.Glance) {
	if sum.unavailable = sum.unavailable || g.Unavailable; sum.unavailable {
		return
	}
	sum.arriving += g.Arriving
	if !g.Served {
		return
	}
	sum.served++
	join(&sum.state, &shard.State{State: g.State, Waiters: g.Waiters}, sum.served == 1)
	sum.totals.add(func(m queue.Metric) int64 { return max(0, g.Happened[m]) })
	if g.Counted {
		if sum.minute == nil {
			sum.minute = new(queueActivity)
		}
		sum.minute.add(func(m queue.Metric) int64 { return int64(g.LastMinute[m]) })
	}
}

func (a *queueActivity) add(count func(queue.Metric) int64) {
	a.Sent += count(queue.MetricSent)
	a.Received += count(queue.MetricReceived)
	a.EmptyReceives += count(queue.MetricEmptyReceives)
	a.Deleted += count(queue.MetricDeleted)
	a.Expired += count(queue.MetricExpired)
	a.DeadLettered += count(queue.MetricDeadLettered)
	a.Moved += count(queue.MetricMoved)
}

func encryptionOf(a *catalog.Attributes) string {
	switch {
	case a.KMSKey != "":
		return "SSE-KMS"
	case a.ManagedSSE:
		return "SSE-SQS"
	}
	return "Disabled"
}
