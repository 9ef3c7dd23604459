package queue

import (
	"fmt"
	"slices"
	"time"
)

// Receive asks for messages.
type Receive struct {
	Max     int // at most so many
	Timeout *time.Duration
	// Attempt is the ReceiveRequestAttemptId; FIFO queues only, may be empty.
	Attempt string
}

// Delivery is one message given to a consumer. Its body is read with
// ReadMessage once the receive is durable.
type Delivery struct {
	Position Position
	Receipt  uint64
	Receives uint64  // of this queue, this one included
	First    Instant // of the receives
	Until    Instant // the end of its visibility timeout
}

// Receive delivers available messages, or none. With too many messages in flight a
// standard queue gives ErrOverLimit; a FIFO queue delivers none, as SQS does. A
// repeated attempt of a FIFO queue delivers the same messages with the same receipts
// again, or gives ErrAttemptStale if one of them was deleted or changed meanwhile, or
// has become visible.
//
// What Limits do not let through is not delivered, except to a repeated attempt.
//
// A receive moves a bounded number of messages to the dead-letter queue. If more are
// left to be moved it may deliver none although some are Available; the next receive
// continues.
func (e *Engine) Receive(id ID, r Receive) ([]Delivery, error) {
	q, err := e.queueAtPresent(id)
	if err != nil {
		return nil, err
	}
	e.work = 0
	out, err := q.receive(r)
	if len(out) > 0 {
		q.tally.countDurably(MetricReceived, int64(len(out)))
	}
	return out, err
}

func (q *queue) receive(r Receive) ([]Delivery, error) {
	timeout := q.cfg.Visibility
	if r.Timeout != nil {
		timeout = *r.Timeout
	}
	if !q.cfg.FIFO {
		if q.held.inFlight >= q.cfg.maxInFlight() {
			return nil, ErrOverLimit
		}
		out, err := q.receiveStandard(q.allowed(r.Max), timeout)
		q.countReceived(len(out))
		return out, err
	}
	if r.Attempt != "" {
		if out, found, err := q.repeat(r.Attempt, timeout); found || err != nil {
			return out, err
		}
	}
	out, err := q.receiveFIFO(q.allowed(r.Max), timeout)
	q.countReceived(len(out))
	if err == nil && r.Attempt != "" && len(out) > 0 {
		q.dedup.rememberAttempt(r.Attempt, out)
	}
	return out, err
}

// repeat answers a receive attempt that was answered before, with the same messages
// and receipts. Their visibility timeout starts anew.
func (q *queue) repeat(attempt string, timeout time.Duration) ([]Delivery, bool, error) {
	given, found, err := q.dedup.attempt(attempt)
	if !found || err != nil {
		return nil, false, err
	}
	for _, d := range given {
		if m := q.held.at[d.Position]; m == nil || !m.heldBy(Receipt{d.Position, d.Receipt}) || m.deadline != d.Until {
			return nil, true, ErrAttemptStale
		}
	}
	for i, d := range given {
		m := q.held.at[d.Position]
		q.held.restart(m, timeout)
		given[i] = m.delivery()
	}
	for _, d := range given {
		q.groups.updateReady(q.held.at[d.Position].group)
	}
	q.dedup.rememberAttempt(attempt, given)
	return given, true, nil
}

// receiveStandard takes messages from three sources. They take turns at being the
// first, so that none of them starves: neither because of messages that return again
// and again, nor of a long line, nor of a busy group. The first two are asked twice:
// moves to the dead-letter queue may have made room for them.
func (q *queue) receiveStandard(most int, timeout time.Duration) ([]Delivery, error) {
	room := min(most, q.cfg.maxInFlight()-q.held.inFlight)
	// A message that this call makes visible again, with a timeout of 0, waits for the
	// next call.
	returned := q.held.returned.Len()
	sources := [...]func(int, time.Duration) ([]Delivery, error){
		func(room int, timeout time.Duration) ([]Delivery, error) {
			return q.receiveReturned(&returned, room, timeout)
		},
		q.receiveLine, q.receiveGroups,
	}
	out := make([]Delivery, 0, room)
	for i := range len(sources) + 2 {
		if len(out) == room {
			break
		}
		some, err := sources[(q.firstSource+i)%len(sources)](room-len(out), timeout)
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	q.firstSource++
	return out, nil
}

// roomForNew returns how many messages may be received for the first time, at most
// room, so that the received messages in memory stay within the limit of messages in
// flight. A FIFO queue may exceed it when all messages that are visible again wait
// behind others in flight: each group then has at most as many as one receive
// delivers, and the other groups must not wait for it.
func (q *queue) roomForNew(room int) int {
	if q.cfg.FIFO && q.groups.ready.Len() == 0 {
		return room
	}
	return max(0, min(room, q.cfg.maxInFlight()-len(q.held.at)))
}

// receiveReturned looks at the first n messages that are visible again, and
// subtracts from n how many it has looked at.
func (q *queue) receiveReturned(n *int, room int, timeout time.Duration) ([]Delivery, error) {
	var out []Delivery
	for ; *n > 0 && len(out) < room && !q.spent(); *n-- {
		m := q.held.returned.Front().Value.(*received)
		if moved, err := q.redrive(m); err != nil {
			return nil, err
		} else if moved {
			continue
		}
		q.held.unlist(m)
		out = append(out, q.held.deliver(m, timeout))
	}
	return out, nil
}

func (q *queue) receiveLine(room int, timeout time.Duration) ([]Delivery, error) {
	room = q.roomForNew(room)
	var out []Delivery
	for len(out) < room && q.line.waiting() > 0 {
		out = append(out, q.deliverNew(&received{pos: q.line.take()}, timeout))
	}
	return out, nil
}

func (q *queue) receiveGroups(room int, timeout time.Duration) ([]Delivery, error) {
	room = q.roomForNew(room)
	if room == 0 {
		return nil, nil
	}
	turns, err := q.firstTurns(room)
	if err != nil {
		return nil, err
	}
	var out []Delivery
	for _, t := range turns {
		if len(out) == room {
			break
		}
		r, err := q.groups.atTurn(t)
		if err != nil {
			return nil, err
		}
		some, err := q.groups.first(t.name, r, room-len(out))
		if err != nil {
			return nil, err
		}
		q.groups.removeFirst(t.name, r, len(some))
		if err := q.groups.requeue(t.name, r); err != nil {
			return nil, err
		}
		for _, x := range some {
			out = append(out, q.deliverNew(&received{pos: x.pos, sent: x.sent, tenant: t.name}, timeout))
		}
	}
	return out, nil
}

// receiveFIFO serves the groups in the order in which they became available,
// each as far as it goes before the next. A group that becomes available again
// by this very call, with a timeout of 0, waits for the next.
func (q *queue) receiveFIFO(most int, timeout time.Duration) ([]Delivery, error) {
	room := min(most, q.cfg.maxInFlight()-q.held.inFlight)
	if room <= 0 {
		return nil, nil
	}
	turns, err := q.firstTurns(room)
	if err != nil {
		return nil, err
	}
	last := q.rota.last
	var out []Delivery
	for len(out) < room && !q.spent() {
		g := q.groups.firstReady(last)
		more := len(turns) > 0 && q.roomForNew(1) > 0
		switch {
		case g == nil && !more:
			return out, nil
		case g == nil || more && turns[0].order < g.order:
			if g, err = q.groups.takeTurn(turns[0]); err != nil {
				return nil, err
			}
			turns = turns[1:]
		default:
			q.groups.leaveReady(g)
		}
		some, err := q.serveGroup(g, room-len(out), timeout)
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	return out, nil
}

// serveGroup delivers messages of one FIFO group: first those that are visible again,
// then members. It stops at a message that is in flight.
func (q *queue) serveGroup(g *activeGroup, room int, timeout time.Duration) ([]Delivery, error) {
	var out []Delivery
	blocked := false
	for _, m := range slices.Clone(g.held) {
		if blocked = m.inFlight || q.spent(); blocked || len(out) == room {
			break
		}
		if moved, err := q.redrive(m); err != nil {
			return nil, err
		} else if blocked = m.inFlight; blocked {
			break
		} else if moved {
			continue
		}
		out = append(out, q.held.deliver(m, timeout))
	}
	if n := q.roomForNew(room - len(out)); n > 0 && !blocked {
		r, err := q.groups.record(g.name)
		if err != nil {
			return nil, err
		}
		some, err := q.groups.first(g.name, r, n)
		if err != nil {
			return nil, err
		}
		q.groups.removeFirst(g.name, r, len(some))
		for _, x := range some {
			out = append(out, q.deliverNew(&received{pos: x.pos, sent: x.sent, group: g}, timeout))
		}
	}
	return out, q.groups.release(g)
}

// Return takes back deliveries that never reached the consumer: they are
// visible again at once and the receive does not count. A message that was
// received again meanwhile, by a repetition of the attempt too, or whose
// visibility was changed with the handle of an earlier receive, stays as it is:
// another consumer relies on it. The engine forgets the receive attempt, if any
// message was taken back: to repeat it is to receive anew.
func (e *Engine) Return(id ID, deliveries []Delivery, attempt string) error {
	return e.takeBack(id, nil, deliveries, attempt)
}

// Shorten takes back all but the first n deliveries of a receive, because one
// answer cannot hold more. A repetition of the attempt gives those n.
func (e *Engine) Shorten(id ID, deliveries []Delivery, n int, attempt string) error {
	return e.takeBack(id, deliveries[:n], deliveries[n:], attempt)
}

// takeBack makes some deliveries of a receive visible again, while the consumer
// gets the kept ones.
func (e *Engine) takeBack(id ID, kept, back []Delivery, attempt string) error {
	q, err := e.queueAtPresent(id)
	if err != nil {
		return err
	}
	taken := false
	for _, d := range back {
		m := q.held.delivered(d)
		if m == nil {
			continue
		}
		taken = true
		q.tally.countDurably(MetricReceived, -1)
		q.countReceived(-1)
		q.held.takeBack(m)
		if m.group != nil {
			if err := q.groups.release(m.group); err != nil {
				return err
			}
		}
	}
	if attempt == "" || !taken || !q.cfg.FIFO {
		return nil
	}
	if err := q.dedup.forgetAttempt(attempt); err != nil {
		return err
	}
	kept = slices.DeleteFunc(slices.Clone(kept), func(d Delivery) bool { return q.held.delivered(d) == nil })
	if len(kept) > 0 {
		q.dedup.rememberAttempt(attempt, kept)
	}
	return nil
}

// firstTurns returns the first n turns of the rota. If there are none, each indexed message must be in another place.
func (q *queue) firstTurns(n int) ([]turn, error) {
	if q.rota.length == 0 && len(q.groups.active) == 0 {
		reachable := q.delays.count + uint64(len(q.held.at)-q.line.held)
		if n := q.indexed(); n > reachable {
			return nil, fmt.Errorf("%d messages of groups, and no group in the rota: %w", n-reachable, errMissing)
		}
	}
	return q.rota.first(n)
}
