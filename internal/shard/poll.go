package shard

import (
	"container/list"
	"errors"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/tool/heap"
)

// poll is a receive that may wait for a message to become available.
type poll struct {
	request request // its first attempt
	id      queue.ID
	receive queue.Receive
	wait    time.Duration // how long it may wait; 0 or less: it does not wait
	end     queue.Instant

	state atomic.Int32
	left  atomic.Bool // the consumer has left, or tried to
	out   []queue.Delivery
	at    queue.Instant // when the messages were received
	err   error
	done  chan struct{}

	elem  *list.Element // in its queue's list
	place int           // in polls.ends
}

func newPoll(id queue.ID, r queue.Receive, wait time.Duration) *poll {
	p := &poll{id: id, receive: r, wait: wait, done: make(chan struct{})}
	p.request.work, p.request.poll = p, p
	return p
}

// do implements work.
func (p *poll) do(e *queue.Engine) error {
	if !p.take() {
		return nil
	}
	if p.wait > 0 {
		p.end = e.Now().Add(p.wait)
	}
	return p.try(e)
}

// The owner takes a poll before it receives messages for it, and the consumer takes it when it stops waiting. Only one
// of them succeeds, so no message goes to a consumer that has left.
const (
	pollOpen = iota
	pollTaken
	pollGone
)

func (p *poll) take() bool  { return p.state.CompareAndSwap(pollOpen, pollTaken) }
func (p *poll) leave() bool { return p.state.CompareAndSwap(pollOpen, pollGone) }

// try receives messages for p, which must be taken, and returns p.err.
func (p *poll) try(e *queue.Engine) error {
	p.out, p.err = e.Receive(p.id, p.receive)
	p.at = e.Now()
	return p.err
}

// empty reports whether p, which found no message, continues to wait. If so, p is open again. Otherwise p.err is the
// answer to its consumer.
func (p *poll) empty() bool {
	if p.end == 0 || len(p.out) > 0 || p.err != nil && !errors.Is(p.err, queue.ErrOverLimit) {
		return false
	}
	return p.reopen() // with too many in flight, too, the poll waits
}

// reopen lets a taken poll wait again. It reports false if the consumer has left meanwhile: the poll then stays taken,
// and must be answered.
func (p *poll) reopen() bool {
	p.out, p.err = nil, nil
	p.state.Store(pollOpen)
	// A consumer that leaves while the poll is taken can only set left.
	return !p.left.Load() || !p.take()
}

func (p *poll) answer(err error) {
	p.err = err
	close(p.done)
}

// polls are the waiting long polls, in order of arrival for each queue. Only the owner uses them. Invariants:
//
//   - A waiting poll is in two lists: in the list of its queue, and in ends. remove removes it from both.
//   - A waiting poll is open, or its consumer has left. The owner takes a poll (see poll.take) before it receives
//     messages for it, and opens it again if there were none. So no message is received for a consumer that has left.
//   - If a queue has waiting polls and a message for them, it is in ready. The reverse need not hold: a failed attempt
//     costs little, but a forgotten poll would wait until its end although there is a message.
//
// A queue enters ready in three ways: a transaction has changed it (touched), a poll joins its queue's list after the
// transaction that tried the poll (add), or the engine was loaded again, so that any queue may have messages
// (touchAll). serve removes a queue from ready before it tries its polls. If the transaction is full, it puts the queue
// back, and the next transaction continues.
//
// A poll ends in one of four ways: with messages, after the transaction that received them; with an error, if that
// transaction fails; empty, when its time is over or the shard closes; or without an answer, if its consumer has left.
// A consumer that leaves does not wait for the owner, which notices it only when it tries the poll or when the poll's
// time is over.
type polls struct {
	waiting map[queue.ID]*list.List
	ends    heap.Heap[*poll]  // by the end of their time
	ready   map[queue.ID]bool // queues in which a poll may find messages
}

func newPolls() polls {
	return polls{
		waiting: make(map[queue.ID]*list.List), ready: make(map[queue.ID]bool),
		ends: heap.New(func(p, q *poll) bool { return p.end < q.end }, func(p *poll) *int { return &p.place }),
	}
}

// pending reports whether serve has polls to try.
func (ps *polls) pending() bool { return len(ps.ready) > 0 }

// of returns how many polls wait for messages of a queue.
func (ps *polls) of(id queue.ID) int {
	if line := ps.waiting[id]; line != nil {
		return line.Len()
	}
	return 0
}

// touched marks the queues that have changed.
func (ps *polls) touched(ids []queue.ID) {
	for _, id := range ids {
		if ps.waiting[id] != nil {
			ps.ready[id] = true
		}
	}
}

func (ps *polls) touchAll() {
	for id := range ps.waiting {
		ps.ready[id] = true
	}
}

func (ps *polls) add(p *poll) {
	line := ps.waiting[p.id]
	if line == nil {
		line = list.New()
		ps.waiting[p.id] = line
	}
	p.elem = line.PushBack(p)
	ps.ends.Set(p)
	// A message may have become available later in the same transaction.
	ps.ready[p.id] = true
}

func (ps *polls) remove(p *poll) {
	if p.elem == nil {
		return
	}
	line := ps.waiting[p.id]
	line.Remove(p.elem)
	p.elem = nil
	ps.ends.Remove(p)
	if line.Len() == 0 {
		delete(ps.waiting, p.id)
		delete(ps.ready, p.id)
	}
}

// serve gives available messages to the polls that wait for them, first come first served, and returns the polls to
// answer. It calls tried with each poll that it has tried. If the transaction is full, the remaining polls stay ready.
func (ps *polls) serve(e *queue.Engine, tried func(*poll)) (served []*poll, err error) {
	for id := range ps.ready {
		if e.Full() {
			return served, nil
		}
		delete(ps.ready, id)
		for line := ps.waiting[id]; line != nil && line.Len() > 0 && e.Available(id); {
			if e.Full() {
				ps.ready[id] = true
				return served, nil
			}
			p := line.Front().Value.(*poll)
			if !p.take() {
				ps.remove(p)
				continue
			}
			err := p.try(e)
			tried(p)
			if err != nil && !queue.IsRefusal(err) {
				served = append(served, p)
				ps.remove(p)
				return served, err
			}
			if p.empty() {
				break
			}
			ps.remove(p)
			served = append(served, p)
		}
	}
	return served, nil
}

// nextEnd returns when the first poll times out.
func (ps *polls) nextEnd() (queue.Instant, bool) {
	if ps.ends.Len() == 0 {
		return 0, false
	}
	return ps.ends.First().end, true
}

// end answers the polls that have timed out, or all.
func (ps *polls) end(now queue.Instant, all bool) {
	for ps.ends.Len() > 0 && (all || ps.ends.First().end <= now) {
		p := ps.ends.First()
		ps.remove(p)
		if p.take() {
			p.answer(nil)
		}
	}
}

func (ps *polls) endAll() { ps.end(0, true) }

// fail answers all polls with an error.
func (ps *polls) fail(err error) {
	for ps.ends.Len() > 0 {
		p := ps.ends.First()
		ps.remove(p)
		if p.take() {
			p.answer(err)
		}
	}
}
