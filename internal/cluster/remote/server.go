package remote

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/messenger"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/tool/varint"
)

// defaultWaitTimeout is how long a call waits for the control shard's copy.
const defaultWaitTimeout = 2 * time.Second

// ServerOptions configures Serve.
type ServerOptions struct {
	// Lookup returns a shard if this node owns it, or an error that explains why this node cannot serve it.
	Lookup func(shard int) (Shard, error)
	// Wait returns when this node's copy of the control shard has reached that position and the shards know its
	// changes, or with an error when ctx ends. Nil means that it always has.
	Wait func(ctx context.Context, position uint64) error
	// WaitTimeout is how long a call waits for Wait. 0 means 2 s.
	WaitTimeout time.Duration
}

// Serve executes the calls that other nodes make to shards of this one.
func Serve(m messenger.Messenger, o ServerOptions) {
	s := &server{ServerOptions: o}
	if s.WaitTimeout == 0 {
		s.WaitTimeout = defaultWaitTimeout
	}
	m.Handle(kindCall, s.execute)
	m.Handle(kindCancel, s.cancel)
}

type server struct {
	ServerOptions
	receives receives
}

// execute answers a call. An error of the call is part of the answer, so that the caller can distinguish it from a
// failure in transit.
func (s *server) execute(ctx context.Context, message []byte) ([]byte, error) {
	r := newReader(message)
	if v := r.Byte(); v != version {
		return []byte{noVersion, version}, nil
	}
	h := getHeader(r)
	m := methods[h.code]
	if m == nil {
		return refuse(fmt.Errorf("%w: %w", shard.ErrNotBegun, errUnknownCall(h.code))), nil
	}
	run := m.prepare(r)
	if err := r.done(); err != nil {
		return refuse(fmt.Errorf("%w: %w", shard.ErrNotBegun, err)), nil
	}
	ctx, cancel := context.WithTimeout(ctx, h.budget)
	defer cancel()
	if h.call != (callID{}) {
		if !s.receives.begin(h.call, cancel) {
			return refuse(fmt.Errorf("%w: the consumer has gone", shard.ErrNotBegun)), nil
		}
		defer s.receives.end(h.call)
	}
	on, err := s.find(ctx, &h)
	if err != nil {
		return refuse(fmt.Errorf("%w: %w", shard.ErrNotBegun, err)), nil
	}
	w := newWriter()
	defer w.release()
	w.Byte(version)
	if err := run(ctx, on, h.queue, w); err != nil {
		return refuse(err), nil
	}
	return slices.Clone(w.Writer), nil
}

// errUnknownCall reports that a node does not know a call. Other versions of the program read the text.
func errUnknownCall(code byte) error { return fmt.Errorf("call %d is not known", code) }

// find returns the shard of a call, after this node knows the queues that the caller knew.
func (s *server) find(ctx context.Context, h *header) (Shard, error) {
	if s.Wait != nil {
		ctx, cancel := context.WithTimeout(ctx, s.WaitTimeout)
		defer cancel()
		if err := s.Wait(ctx, h.position); err != nil {
			return nil, fmt.Errorf("wait for position %d of the control shard: %w", h.position, err)
		}
	}
	return s.Lookup(h.shard)
}

// refuse returns the answer of a call that failed.
func refuse(err error) []byte {
	w := writer{varint.Writer{version}}
	putError(&w, err)
	return w.Writer
}

// cancel ends a receive whose consumer has gone. Its answer is empty: the answer to the receive shows its outcome.
func (s *server) cancel(_ context.Context, message []byte) ([]byte, error) {
	r := newReader(message)
	if r.Byte() != version {
		return nil, nil // a receive of that version was refused
	}
	if call := getCall(r); r.done() == nil {
		s.receives.cancel(call)
	}
	return nil, nil
}
