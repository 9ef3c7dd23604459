package shard

import (
	"context"
	"fmt"
	"sync"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/store"
)

// inbox passes requests to the owner of a shard, and lets their callers wait for it.
//
//   - No caller waits for a disk that cannot be written, except for execEvenIfBlocked.
//   - Each request is begun by the owner or given up by its caller, never both.
type inbox struct {
	requests chan *request
	closing  chan struct{} // closed to end the owner
	closed   chan struct{} // closed when it has ended
	once     sync.Once
	deposed  error // only for the owner, and for others after closed is closed: the reason why it has ended
	disk     *store.Disk
	writable func() *Writable
}

func newInbox(disk *store.Disk, writable func() *Writable) *inbox {
	return &inbox{
		requests: make(chan *request, requestsAtOnce), closing: make(chan struct{}), closed: make(chan struct{}),
		disk: disk, writable: writable,
	}
}

// close lets the owner end after the requests that have arrived.
func (in *inbox) close() { in.once.Do(func() { close(in.closing) }) }

// Writable returns the current period in which the shard can be written.
func (in *inbox) Writable() *Writable { return in.writable() }

// call runs f in the owner, and waits until the effect is durable. Once the owner has begun the request, the end of ctx
// no longer ends the wait, because the caller must know whether the change was made. A blocked disk does end the wait,
// because it may stay blocked for any time.
func call[T any](ctx context.Context, in *inbox, f func(*queue.Engine) (T, error)) (T, error) {
	a := &asking[T]{request: request{done: make(chan struct{})}, f: f}
	a.work = a
	if err := in.await(ctx, in.Writable(), &a.request); err != nil {
		var none T
		return none, err
	}
	return a.got, a.err
}

// exec is call for a function without a result.
func (in *inbox) exec(ctx context.Context, f func(*queue.Engine) error) error {
	_, err := call(ctx, in, func(e *queue.Engine) (struct{}, error) { return struct{}{}, f(e) })
	return err
}

// execEvenIfBlocked is exec for changes that must be made eventually: it waits while the disk is blocked.
func (in *inbox) execEvenIfBlocked(ctx context.Context, f func(*queue.Engine) error) error {
	r := newRequest(f)
	if err := in.await(ctx, in.disk.Lifetime(), r); err != nil {
		return err
	}
	return r.err
}

// await sends r to the owner and waits for the answer, or returns why it stopped waiting, for example because ctx has
// ended.
func (in *inbox) await(ctx context.Context, c *Writable, r *request) error {
	if err := in.hand(ctx, c, r); err != nil {
		return err
	}
	select {
	case <-r.done:
		return nil
	case <-in.closed:
		// The owner may have answered just now.
		select {
		case <-r.done:
			return nil
		default:
		}
		if r.begin() { // the owner has not seen it
			return in.ended()
		}
		return ErrUnavailable
	case <-c.Blocked():
		if r.begin() { // the owner will now ignore it
			return notBegun(c)
		}
		return unavailable(c)
	}
}

// hand passes r to the owner, or returns why it does not.
func (in *inbox) hand(ctx context.Context, c *Writable, r *request) error {
	if c.Err() != nil {
		return notBegun(c)
	}
	select {
	case in.requests <- r: // there is nearly always room, and this attempt is cheap
		return nil
	default:
	}
	select {
	case in.requests <- r:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-in.closed:
		return in.ended()
	case <-c.Blocked():
		return notBegun(c)
	}
}

// send sends a request to the owner and does not wait for the answer.
func (in *inbox) send(r *request) {
	select {
	case in.requests <- r:
	case <-in.closed:
	case <-in.Writable().Blocked():
	}
}

// abandonPoll stops waiting for a poll because the disk is blocked, and returns the error for its consumer. If the
// owner is just receiving messages for the poll, their deliveries are reverted when the disk can be written again.
func (in *inbox) abandonPoll(p *poll, c *Writable) error {
	p.left.Store(true)
	if !p.leave() {
		go func() {
			select {
			case <-p.done:
			case <-in.closed:
				return
			case <-in.disk.Lifetime().Blocked():
				return
			}
			if p.err == nil && len(p.out) > 0 {
				_ = in.execEvenIfBlocked(context.Background(), func(e *queue.Engine) error {
					return e.Return(p.id, p.out, p.receive.Attempt)
				}) // if this fails, they become visible when their visibility timeout ends
			}
		}()
	}
	return unavailable(c)
}

// ended returns the error for requests to a shard that has ended.
func (in *inbox) ended() error {
	if in.deposed != nil {
		return fmt.Errorf("%w: %w", ErrNotBegun, in.deposed)
	}
	return ErrNotBegun
}

// isClosed reports whether the owner has ended.
func (in *inbox) isClosed() bool {
	select {
	case <-in.closed:
		return true
	default:
		return false
	}
}

// unavailable is the error for callers who do not wait for a blocked disk.
func unavailable(c *Writable) error { return fmt.Errorf("%w: %w", ErrUnavailable, c.Err()) }

// notBegun is the error for callers whose requests the owner has not begun.
func notBegun(c *Writable) error { return fmt.Errorf("%w: %w", ErrNotBegun, c.Err()) }
