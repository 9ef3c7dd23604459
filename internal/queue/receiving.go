package queue

import (
	"fmt"
	"slices"
	"time"
)

// receiving is a receive in progress. It takes waiting messages until it has no more room.
//
//   - The messages in out are already delivered, so after an error the transaction must be dropped.
//   - A message that this receive makes visible again, with a timeout of 0, waits for the next receive.
type receiving struct {
	*queue
	timeout time.Duration
	room    int // messages that out may have
	again   int // standard queues: returned messages still to examine
	out     []Delivery
}

// give delivers up to most messages.
func (q *queue) give(most int, timeout time.Duration) ([]Delivery, error) {
	room := min(most, q.cfg.maxInFlight()-q.held.inFlight)
	r := receiving{queue: q, timeout: timeout, room: room, again: q.held.returned.Len()}
	var err error
	if q.cfg.FIFO {
		err = r.fillFIFO()
	} else {
		err = r.fillStandard()
	}
	if err != nil {
		return nil, err
	}
	return r.out, nil
}

// left returns how many more messages may be delivered.
func (r *receiving) left() int { return r.room - len(r.out) }

// deliver delivers a message that was received before.
func (r *receiving) deliver(m *received) { r.out = append(r.out, r.held.deliver(m, r.timeout)) }

// deliverNew delivers a message that was never received.
func (r *receiving) deliverNew(m *received) {
	r.track(m)
	r.deliver(m)
}

// fillStandard takes messages from three sources. They take turns at being first, so that none starves: neither
// messages that return again and again, nor a long line, nor a busy group can displace the others. The first two
// sources are tried twice, because moves to the dead-letter queue may have made room.
func (r *receiving) fillStandard() error {
	r.out = make([]Delivery, 0, r.room)
	const sources = 3
	for i := 0; i < sources+2 && r.left() > 0; i++ {
		var err error
		switch (r.firstSource + i) % sources {
		case 0:
			err = r.fromReturned()
		case 1:
			r.fromLine()
		case 2:
			err = r.fromRota()
		}
		if err != nil {
			return err
		}
	}
	r.firstSource++
	return nil
}

// fromReturned delivers messages that are visible again.
func (r *receiving) fromReturned() error {
	for ; r.again > 0 && r.left() > 0 && !r.spent(); r.again-- {
		m := r.held.returned.Front().Value.(*received)
		if moved, err := r.redrive(m); err != nil {
			return err
		} else if moved {
			continue
		}
		r.held.unlist(m)
		r.deliver(m)
	}
	return nil
}

// fromLine takes messages of the line that were never received.
func (r *receiving) fromLine() {
	for n := r.roomForNew(r.left()); n > 0 && r.line.waiting() > 0; n-- {
		r.deliverNew(&received{pos: r.line.take()})
	}
}

// fromRota serves the groups whose turn it is.
func (r *receiving) fromRota() error {
	n := r.roomForNew(r.left())
	if n == 0 {
		return nil
	}
	turns, err := r.firstTurns(n)
	if err != nil {
		return err
	}
	for _, t := range turns {
		if n == 0 {
			break
		}
		g, err := r.groups.atTurn(t)
		if err != nil {
			return err
		}
		some, err := r.groups.first(t.name, g, n)
		if err != nil {
			return err
		}
		r.groups.removeFirst(t.name, g, len(some))
		if err := r.groups.requeue(t.name, g); err != nil {
			return err
		}
		for _, x := range some {
			r.deliverNew(&received{pos: x.pos, sent: x.sent, tenant: t.name})
		}
		n -= len(some)
	}
	return nil
}

// fillFIFO serves the groups in the order in which they became available, each completely before the next. A group that
// becomes available again during the call, with a timeout of 0, waits for the next receive.
func (r *receiving) fillFIFO() error {
	if r.room <= 0 {
		return nil
	}
	turns, err := r.firstTurns(r.room)
	if err != nil {
		return err
	}
	last := r.rota.last
	for r.left() > 0 && !r.spent() {
		g := r.groups.firstReady(last)
		more := len(turns) > 0 && r.roomForNew(1) > 0
		switch {
		case g == nil && !more:
			return nil
		case g == nil || more && turns[0].order < g.order:
			if g, err = r.groups.takeTurn(turns[0]); err != nil {
				return err
			}
			turns = turns[1:]
		default:
			r.groups.leaveReady(g)
		}
		if err := r.serve(g); err != nil {
			return err
		}
	}
	return nil
}

// serve delivers messages of one FIFO group: first those that are visible again,
// then members. It stops at a message that is in flight.
func (r *receiving) serve(g *activeGroup) error {
	blocked, err := r.serveHeld(g)
	if err != nil {
		return err
	}
	if n := r.roomForNew(r.left()); n > 0 && !blocked {
		if err := r.serveMembers(g, n); err != nil {
			return err
		}
	}
	return r.groups.release(g)
}

// serveHeld delivers messages of a group that are visible again, and reports whether one of them blocks the messages
// behind it.
func (r *receiving) serveHeld(g *activeGroup) (blocked bool, err error) {
	for _, m := range slices.Clone(g.held) {
		if blocked, err := r.serveBefore(g, m.pos); blocked || err != nil {
			return blocked, err
		}
		if m.inFlight || r.spent() {
			return true, nil
		}
		if r.left() == 0 {
			return false, nil
		}
		moved, err := r.redrive(m)
		switch {
		case err != nil:
			return false, err
		case m.inFlight: // the dead-letter queue is sealed
			return true, nil
		case !moved:
			r.deliver(m)
		}
	}
	return false, nil
}

// serveBefore delivers the members of a group in front of p, and reports whether it has stopped for lack of room.
func (r *receiving) serveBefore(g *activeGroup, p Position) (blocked bool, err error) {
	for {
		_, found, err := r.groups.before(g, p)
		switch {
		case !found || err != nil:
			return false, err
		case r.roomForNew(r.left()) == 0:
			return true, nil
		}
		if err := r.serveMembers(g, 1); err != nil {
			return false, err
		}
	}
}

// serveMembers delivers the first n members of a group.
func (r *receiving) serveMembers(g *activeGroup, n int) error {
	record, err := r.groups.record(g.name)
	if err != nil {
		return err
	}
	some, err := r.groups.first(g.name, record, n)
	if err != nil {
		return err
	}
	r.groups.removeFirst(g.name, record, len(some))
	for _, x := range some {
		r.deliverNew(&received{pos: x.pos, sent: x.sent, group: g})
	}
	return nil
}

// roomForNew returns how many new messages a receive may deliver, at most room, so that the received messages in memory
// stay within the limit of messages in flight, including those that an undo must still restore. A FIFO queue may exceed
// the limit when all messages that are visible again wait behind others in flight: other groups must not wait for them,
// and each group has at most as many as one receive delivers.
func (ms *messages) roomForNew(room int) int {
	if ms.cfg.FIFO && ms.groups.ready.Len() == 0 {
		return room
	}
	return max(0, min(room, ms.cfg.maxInFlight()-ms.held.taken()))
}

// firstTurns returns the first n turns of the rota. Without turns, no indexed message may wait in the rota's groups.
func (ms *messages) firstTurns(n int) ([]turn, error) {
	if ms.rota.length == 0 && len(ms.groups.active) == 0 && len(ms.groups.paused) == 0 {
		reachable := ms.delays.count + uint64(len(ms.held.at)-ms.line.held)
		if n := ms.indexed(); n > reachable {
			return nil, fmt.Errorf("%d messages of groups, and no group in the rota: %w", n-reachable, errMissing)
		}
	}
	return ms.rota.first(n)
}
