package replica

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/store"
)

// runner implements effects for a node. Slow effects run in a goroutine, which posts the event in the end.
type runner struct{ *Replica }

func (r runner) follow(ticket uint64, from sharedlog.Position) {
	ctx, cancel := context.WithCancel(r.ctx)
	r.endFollowing = cancel
	go func() {
		defer cancel()
		err := r.o.Log.Follow(ctx, from, func(rec sharedlog.Record) error {
			handled := make(chan struct{})
			if !r.post(func() { r.machine.onFollowed(ticket, rec); close(handled) }) {
				return context.Canceled
			}
			<-handled // the record is valid until then
			return ctx.Err()
		})
		r.post(func() { r.machine.onFollowEnded(ticket, err) })
	}()
}

func (r runner) unfollow() { r.endFollowing() }

func (r runner) read(ticket uint64, from sharedlog.Position) {
	go func() {
		ctx, cancel := context.WithTimeout(r.ctx, readTimeout)
		defer cancel()
		records, extent, err := r.o.Log.Read(ctx, from)
		r.post(func() { r.machine.onRead(ticket, records, extent, err) })
	}()
}

// probe reads only if the log seems to have records that the store has not applied. To be certain takes an entry in the
// log's Raft group, and each replica of each shard would write one all the time.
func (r runner) probe(ticket uint64, from sharedlog.Position) {
	log, ok := r.o.Log.(sharedlog.Estimator)
	if !ok {
		r.read(ticket, from)
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(r.ctx, readTimeout)
		defer cancel()
		extent, err := log.Estimate(ctx)
		if err != nil || extent.Last+1 != from {
			r.read(ticket, from)
			return
		}
		r.post(func() { r.machine.onRead(ticket, nil, extent, nil) })
	}()
}

func (r runner) append(ticket uint64, after sharedlog.Position, data []byte) {
	ctx, cancel := context.WithTimeout(r.ctx, r.o.GiveUp)
	r.endAppend = cancel
	go func() {
		defer cancel()
		r.appending.Lock() // one that was abandoned may not have returned yet
		err := r.o.Log.Append(ctx, after, data)
		r.appending.Unlock()
		r.post(func() { r.machine.onAppended(ticket, err) })
	}()
}

func (r runner) abandon() { r.endAppend() }

// brief limits an operation on the lease. A renewal without an answer after half of the lease can be repeated before
// its end. Aborting another operation gains nothing if a busy machine takes long for it.
func (r runner) brief(bound time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(r.ctx, bound)
}

// leaseTimeout is the timeout of operations on a lease, except renewals.
const leaseTimeout = 3 * time.Second

func (r runner) checkLease() {
	go func() {
		ctx, cancel := r.brief(leaseTimeout)
		defer cancel()
		leases, err := r.o.Leases.List(ctx)
		_, held := leases[LeaseName(r.o.Name)]
		r.post(func() { r.machine.onLeaseChecked(held, err) })
	}()
}

func (r runner) take(ticket uint64) {
	go func() {
		ctx, cancel := r.brief(leaseTimeout)
		defer cancel()
		l, err := r.o.Leases.Take(ctx, LeaseName(r.o.Name), Holder{Node: r.o.Node}.encode())
		r.post(func() { r.machine.onTaken(ticket, l, err) })
	}()
}

func (r runner) renew(ticket uint64, l sharedlog.Lease, epoch uint64) {
	go func() {
		ctx, cancel := r.brief(r.o.Leases.TTL() / 2)
		defer cancel()
		err := l.Renew(ctx, Holder{Node: r.o.Node, Epoch: epoch}.encode())
		r.post(func() { r.machine.onRenewed(ticket, err) })
	}()
}

func (r runner) release(ticket uint64, l sharedlog.Lease) {
	go func() {
		ctx, cancel := r.brief(leaseTimeout)
		defer cancel()
		err := l.Release(ctx)
		r.post(func() { r.machine.onReleased(ticket, err) })
	}()
}

func (r runner) prepare(ticket uint64) {
	r.await(r.o.Host.Prepare, func(err error) { r.machine.onPrepared(ticket, err) })
}

func (r runner) claimed(ticket uint64) {
	r.await(r.o.Host.Claimed, func(err error) { r.machine.onReady(ticket, err) })
}

// await gives the host as much time as an append may take, and posts its answer.
func (r runner) await(ask func(context.Context) error, answer func(error)) {
	go func() {
		ctx, cancel := context.WithTimeout(r.ctx, r.o.GiveUp)
		defer cancel()
		err := ask(ctx)
		r.post(func() { answer(err) })
	}()
}

// open makes the host serve, and ends that when stop is called, which may be before the host has returned.
func (r runner) open(ticket uint64, o *Ownership) {
	told := make(chan struct{})
	served := make(chan struct{})
	r.stopServing, r.served = func() { close(told) }, served
	go func() {
		defer close(served)
		stop, err := r.o.Host.Serve(o)
		running := make(chan bool, 1)
		if !r.post(func() { r.machine.onOpened(ticket, err); running <- r.machine.service.running }) {
			running <- true
		}
		if !<-running {
			return
		}
		if err == nil {
			select {
			case <-told:
			case <-r.dead:
			}
			stop()
		}
		r.post(func() { r.machine.onStopped() })
	}()
}

func (r runner) stop() { r.stopServing() }

// ErrNoSource reports that a replica is too far behind its log and no other node can have a checkpoint for it.
var ErrNoSource = errors.New("there is nowhere to get a checkpoint from")

func (r runner) fetch(ticket uint64) {
	go func() {
		err := r.receive()
		r.post(func() {
			if err == nil {
				err = r.install()
			}
			r.machine.onFetched(ticket, err)
		})
	}()
}

// receive makes the host fetch a checkpoint, into a directory next to the store.
func (r runner) receive() error {
	in, err := store.Receive(r.o.Storage.Disk, r.o.Dir)
	if err != nil {
		return err
	}
	return r.o.Host.Fetch(r.ctx, in)
}

// errReplace reports that a checkpoint could not replace the store, and that no store is open now.
var errReplace = errors.New("the store could not be replaced by a checkpoint")

// install replaces the store with the received checkpoint.
func (r runner) install() error {
	r.swap.Lock()
	defer r.swap.Unlock()
	old := r.store
	r.store = nil
	err := old.Close()
	var s *store.Store
	if err == nil {
		s, err = r.load()
	}
	if err == nil {
		err = r.use(s)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errReplace, err)
	}
	r.log.Info("the store has been replaced by a checkpoint", "position", r.store.Mark().Position)
	return nil
}

func (r runner) report(what string, err error) {
	level := slog.LevelWarn
	if r.machine.role == Stopped {
		level = slog.LevelError
	}
	r.log.Log(r.ctx, level, what, "position", r.machine.at(), "error", err)
}
