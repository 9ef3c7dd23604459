package shard

import (
	"time"

	"github.com/sluicemq/sluice/internal/queue"
)

// Each part of a transaction is limited, and together they stay far below the limit of a commit. If a transaction is
// too long nevertheless, the part that caused it must neither make the others fail nor be repeated forever:
//
//   - The engine is dropped, as after any failed commit, and loaded again at once.
//   - The largest part is considered the cause. If it is a request or a poll, it is answered with queue.ErrTooLong. If
//     it is due work, the portions are smaller from then on.
//   - All other parts are repeated. So each round has one part less, or a smaller part.

// sizes are the lengths of the parts of a transaction.
type sizes struct {
	due     int // due work
	before  int // the transaction so far
	largest int
	request *request // the largest part: request, poll, or neither if it is due work
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
	default: // a single step is too long, which cannot happen
		o.reload = time.Now().Add(reloadInterval)
	}
	o.log.Error(
		"shard transaction was too long, and is divided", "error", err, "requests", len(b.requests), "largest", blamed,
	)
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
