package replica

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/store"
)

// errands does what the machine wants with goroutines: one for whatever may take
// time, which posts an event in the end.
type errands struct{ *Replica }

func (r errands) follow(ticket uint64, from sharedlog.Position) {
	ctx, cancel := context.WithCancel(r.ctx)
	r.endFollowing = cancel
	go func() {
		defer cancel()
		err := r.o.Log.Follow(ctx, from, func(rec sharedlog.Record) error {
			handled := make(chan struct{})
			if !r.post(func() { r.machine.followed(ticket, rec); close(handled) }) {
				return context.Canceled
			}
			<-handled // the record is valid until then
			return ctx.Err()
		})
		r.post(func() { r.machine.followEnded(ticket, err) })
	}()
}

func (r errands) unfollow() { r.endFollowing() }

func (r errands) read(ticket uint64, from sharedlog.Position) {
	go func() {
		ctx, cancel := context.WithTimeout(r.ctx, readTimeout)
		defer cancel()
		records, extent, err := r.o.Log.Read(ctx, from)
		r.post(func() { r.machine.read(ticket, records, extent, err) })
	}()
}

func (r errands) append(ticket uint64, after sharedlog.Position, data []byte) {
	ctx, cancel := context.WithTimeout(r.ctx, r.o.GiveUp)
	r.endAppend = cancel
	go func() {
		defer cancel()
		r.appending.Lock() // one that was abandoned may not have returned yet
		err := r.o.Log.Append(ctx, after, data)
		r.appending.Unlock()
		r.post(func() { r.machine.appended(ticket, err) })
	}()
}

func (r errands) abandon() { r.endAppend() }

// brief is for how long the engine may take for something about a lease.
func (r errands) brief() (context.Context, context.CancelFunc) {
	return context.WithTimeout(r.ctx, r.o.Leases.TTL()/3)
}

func (r errands) look() {
	go func() {
		ctx, cancel := r.brief()
		defer cancel()
		leases, err := r.o.Leases.List(ctx)
		_, held := leases[LeaseName(r.o.Name)]
		r.post(func() { r.machine.looked(held, err) })
	}()
}

func (r errands) take(ticket uint64) {
	go func() {
		ctx, cancel := r.brief()
		defer cancel()
		l, err := r.o.Leases.Take(ctx, LeaseName(r.o.Name), Holder{Node: r.o.Node}.encode())
		r.post(func() { r.machine.taken(ticket, l, err) })
	}()
}

func (r errands) renew(ticket uint64, l sharedlog.Lease, epoch uint64) {
	go func() {
		ctx, cancel := r.brief()
		defer cancel()
		err := l.Renew(ctx, Holder{Node: r.o.Node, Epoch: epoch}.encode())
		r.post(func() { r.machine.renewed(ticket, err) })
	}()
}

func (r errands) release(ticket uint64, l sharedlog.Lease) {
	go func() {
		ctx, cancel := r.brief()
		defer cancel()
		err := l.Release(ctx)
		r.post(func() { r.machine.released(ticket, err) })
	}()
}

func (r errands) prepare(ticket uint64) {
	go func() {
		var err error
		if r.o.Before != nil {
			ctx, cancel := context.WithTimeout(r.ctx, r.o.GiveUp)
			defer cancel()
			err = r.o.Before(ctx)
		}
		r.post(func() { r.machine.prepared(ticket, err) })
	}()
}

// open builds what answers requests, and stops it when stop is called, which may be
// before it is built.
func (r errands) open(ticket uint64, o *Ownership) {
	told := make(chan struct{})
	served := make(chan struct{})
	r.tellStop, r.served = func() { close(told) }, served
	go func() {
		defer close(served)
		stop, err := r.o.Serve(o)
		running := make(chan bool, 1)
		if !r.post(func() { r.machine.opened(ticket, err); running <- r.machine.running }) {
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
		r.post(func() { r.machine.stopped() })
	}()
}

func (r errands) stop() { r.tellStop() }

// errNoFetch says that a replica is too far behind its log and has nowhere to get a
// checkpoint from.
var errNoFetch = errors.New("there is nowhere to get a checkpoint from")

func (r errands) fetch(ticket uint64) {
	go func() {
		err := r.receive()
		r.post(func() {
			if err == nil {
				err = r.install()
			}
			r.machine.fetched(ticket, err)
		})
	}()
}

// receive gets a checkpoint that can take the store's place.
func (r errands) receive() error {
	if r.o.Fetch == nil {
		return errNoFetch
	}
	in, err := store.Receive(r.o.Storage.Disk, r.o.Dir)
	if err != nil {
		return err
	}
	return r.o.Fetch(r.ctx, in)
}

// errReplace says that the store could not be replaced, and so there is none.
var errReplace = errors.New("the store could not be replaced by a checkpoint")

// install replaces the store by the checkpoint that has come.
func (r errands) install() error {
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

func (r errands) tell(what string, err error) {
	level := slog.LevelWarn
	if r.machine.role == Stopped {
		level = slog.LevelError
	}
	r.log.Log(r.ctx, level, what, "position", r.machine.at(), "error", err)
}
