package shard

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/store"
)

// batch is the work of one transaction.
type batch struct {
	requests []*request
	served   []*poll // long polls that the transaction ends
	sizes    sizes
}

// commitBatch runs one transaction, and answers its callers. Everything that clients see of a shard passes through it,
// in the order of its calls. Invariants:
//
//   - No answer is sent before everything it depends on is durable. Empty answers and refusals depend on changes, too:
//     on those of earlier requests in the same transaction.
//   - Outside commitBatch the engine is never ahead of the store. After a failed transaction the engine is dropped and
//     loaded again from the store. Totals and announcements, which other goroutines read, change only after the commit.
//   - Each request and each poll that has begun is answered once, repeated in the next transaction, or left waiting as
//     a long poll.
//   - A transaction is bounded, and so is each of its parts.
//
// The steps:
//
//	due work ─► requests ─► long polls ─► End ─► format ─► commit ─► totals, announcements ─► answers
//	└────────────── fill ────────────┘   └───── makeDurable ─────┘   └──────────── publish ───────────┘
//
// Due work comes first, because requests must see messages whose delay or visibility timeout has passed. Polls come
// after the requests, because a request may send the message that a poll waits for: the message and its receive then
// share a commit. Each part has its own share of the transaction, so no part starves: a flood of requests leaves room
// for polls, and a million expired messages leave room for requests. A poll that finds nothing joins the waiting polls
// only after the commit, when it can no longer fail.
//
// The format is raised between the last change and the commit: not earlier, because only the changes show which format
// they need, and not later, because older programs must refuse the directory before it contains anything that they
// misread. A transaction without changes makes no commit. In a cluster the shard then confirms that it is still the
// owner, because its answers depend on that.
func (o *owner) commitBatch(first *request) {
	if o.engine == nil && !o.recover() {
		for _, r := range o.take(first) {
			r.answer(ErrNotBegun)
		}
		o.polls.end(o.clock.time(), o.draining.Load())
		return
	}
	tx := o.store.Begin()
	defer tx.Release()
	o.engine.Begin(tx, o.clock.time())
	var b batch
	err := o.fill(tx, first, &b)
	if err == nil {
		err = o.makeDurable(tx)
	}
	switch {
	case errors.Is(err, store.ErrTooLong):
		o.divide(err, &b)
	case err != nil:
		o.fail(err, &b)
	default:
		o.publish(&b)
	}
}

// fill runs due work, requests and long polls.
func (o *owner) fill(tx *store.Txn, first *request, b *batch) error {
	o.allow()
	o.empty.count(o.engine) // before their minute ends
	o.engine.Limit(o.overdue)
	if err := o.engine.Advance(); err != nil {
		return err
	}
	b.sizes.due = tx.Size()
	o.engine.Limit(tx.Size() + o.maxCommit)
	if given := o.take(first); len(given) > 0 {
		if err := o.run(tx, given, b); err != nil {
			return err
		}
	}
	o.engine.Limit(tx.Size() + o.maxCommit/2)
	var err error
	b.served, err = o.polls.serve(o.engine, func(p *poll) { b.sizes.add(tx.Size(), nil, p) })
	return err
}

// makeDurable ends the transaction and commits it.
func (o *owner) makeDurable(tx *store.Txn) error {
	o.polls.touched(o.engine.End())
	if err := o.requireFormat(o.engine); err != nil {
		return err
	}
	if tx.Empty() {
		return o.confirm()
	}
	o.pacer.commits.Add(1)
	return o.commit(tx)
}

// publish passes durable results to watchers, and answers the callers.
func (o *owner) publish(b *batch) {
	now := o.engine.Totals()
	o.totals.add(o.counted, now)
	o.counted = now
	o.announce(o.engine)
	o.tellOfDeadLetters()
	for _, r := range b.requests {
		if p := r.poll; p != nil {
			if p.empty() {
				o.polls.add(p)
				continue
			}
			r.err = p.err
		}
		r.answer(r.err)
	}
	for _, p := range b.served {
		p.answer(p.err)
	}
	o.polls.end(o.clock.time(), o.draining.Load())
}

// take returns the requests to repeat, followed by first if it is not nil.
func (o *owner) take(first *request) []*request {
	all := o.repeat
	o.repeat = nil
	if first != nil {
		all = append(all, first)
	}
	return all
}

// run runs the given requests and newly arrived ones, as long as the transaction has room. It adds the requests that it
// has run to b, and leaves the other given requests to the next transaction.
func (o *owner) run(tx *store.Txn, given []*request, b *batch) error {
	next := func() (r *request) {
		if len(given) == 0 {
			return o.next()
		}
		r, given = given[0], given[1:]
		return r
	}
	var err error
	for r := next(); r != nil; r = next() {
		if !r.repeated && !r.begin() {
			continue
		}
		b.requests = append(b.requests, r)
		if r.err = r.work.do(o.engine); r.err != nil && !queue.IsRefusal(r.err) {
			err = r.err
			break
		}
		b.sizes.add(tx.Size(), r, nil)
		if len(b.requests) == requestsAtOnce || o.engine.Full() {
			break
		}
	}
	o.repeat = append(o.repeat, o.begun(given)...)
	return err
}

// begun begins requests that are left to a later transaction, and returns them.
func (o *owner) begun(given []*request) (out []*request) {
	for _, r := range given {
		if r.repeated || r.begin() {
			r.repeated = true
			out = append(out, r)
		}
	}
	return out
}

// next returns a request that has arrived, or nil. It first yields to goroutines that are about to send one. If the
// processors are busy, more requests then share the commit; if they are idle, the yield takes no time.
func (o *owner) next() *request {
	select {
	case r := <-o.requests:
		return r
	default:
	}
	runtime.Gosched()
	select {
	case r := <-o.requests:
		return r
	default:
		return nil
	}
}

// fail answers the requests of a transaction that could not be made durable, and drops the engine, whose state is ahead
// of the store.
func (o *owner) fail(err error, b *batch) {
	o.engine = nil
	if !o.isDeposed(err) {
		o.log.Error("shard transaction failed", "error", err, "requests", len(b.requests))
	}
	for _, r := range b.requests {
		r.answer(fmt.Errorf("%w: %w", ErrUnavailable, err))
	}
	for _, p := range b.served {
		p.answer(fmt.Errorf("%w: %w", ErrUnavailable, err))
	}
}
