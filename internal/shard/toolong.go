package shard

import (
	"time"

	"github.com/sluicemq/sluice/internal/queue"
)

// Each part of a transaction is limited, and all together they are far below the limit of a commit. If a transaction is
// too long all the same, the part that caused it must not fail the others, nor repeat for ever:
//
//   - The engine is dropped, as after any commit that fails, and loaded again at once.
//   - The largest part is the culprit. A request or a poll is answered with queue.ErrTooLong. Due work is done in
//     smaller portions from then on.
//   - All other parts are repeated. So each round has one part less, or a smaller one.

// sizes are the lengths of the parts of a transaction.
type sizes struct {
	due     int // what time has made due
	before  int // the transaction, up to here
	largest int
	request *request // the largest part: one of both, or neither if it is what was due
	poll    *poll
}

// add records the length of the transaction after a request or a poll.
func (x *sizes) add(size int, r *request, p *poll) {
	grown := size - max(x.before, x.due)
	x.before = size
	if grown > max(x.largest, x.due) {
		x.largest, x.request, x.poll = grown, r, p
	}
}

// divide handles a failed transaction that was too long.
func (o *owner) divide(err error, b *batch) {
	x := &b.sizes
	o.engine, o.reload = nil, time.Time{}
	blamed := "what was due"
	switch {
	case x.request != nil:
		blamed = "a request"
		x.request.answer(queue.ErrTooLong)
	case x.poll != nil:
		blamed = "a long poll"
		o.polls.remove(x.poll)
		x.poll.answer(queue.ErrTooLong)
	case o.overdue > 1:
		o.overdue /= 2
	default: // one step alone is too long, which no step is
		o.reload = time.Now().Add(reloadInterval)
	}
	o.log.Error("shard transaction was too long, and is divided", "error", err, "requests", len(b.requests), "largest", blamed)
	for _, r := range b.requests {
		if r != x.request {
			o.again(r)
		}
	}
	for _, p := range b.served {
		switch {
		case p == x.poll:
		case p.reopen():
			o.polls.add(p)
		default:
			p.answer(nil)
		}
	}
}

// again repeats a request in the next transaction.
func (o *owner) again(r *request) {
	r.repeated = true
	if r.poll != nil && !r.poll.reopen() {
		r.answer(nil)
		return
	}
	o.repeat = append(o.repeat, r)
}
