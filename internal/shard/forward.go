package shard

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/tool/fairshare"
	"github.com/sluicemq/sluice/internal/tool/wait"
)

const (
	// forwardAtOnce and forwardBytes limit the messages of one call.
	forwardAtOnce = 256
	forwardBytes  = 256 << 10
	// forwardsMost limits the concurrent calls of that size. An account that is alone gets half of them.
	forwardsMost = 32
	// forwardTimeout limits the wait for a destination's answer.
	forwardTimeout = 10 * time.Second
	// After each failed attempt the pause doubles.
	forwardPause   = 50 * time.Millisecond
	forwardLongest = 15 * time.Second
)

// Deliver passes messages to the shard that serves a queue. It calls the shard's Accept, and returns nil when Accept
// has. It ends when ctx ends.
//
// Forward may repeat messages that were already delivered, followed by new ones. So Deliver must send a message to the
// same shard each time. If the queue is on several shards, Deliver may divide the messages of a call among them, each
// part in order. It succeeds when all parts have succeeded.
type Deliver func(ctx context.Context, id queue.ID, from queue.FromShard, messages []queue.Transfer) error

// Forward forwards the messages in the outboxes of s to the shards that serve their queues, exactly once and, for each
// queue, in order. Forward returns when ctx ends or s is closed. The store must stay open until then. A shard runs one
// Forward at a time.
//
// Queues do not wait for each other. For each queue, Forward begins with one message, and continues with many when that
// one was accepted. While deliveries fail, the pauses between attempts grow, and no message is lost.
func Forward(ctx context.Context, s *Shard, to Deliver) error {
	ctx, cancel := context.WithCancel(ctx)
	f := &forwarder{
		source: s.outboxes, log: s.log, from: queue.FromShard{Shard: s.number}, to: to,
		outboxes: make(map[queue.ID]bool), turns: fairshare.New(fairshare.Options{Places: forwardsMost, Reserve: true}),
	}
	defer func() {
		cancel()
		f.running.Wait()
		s.outboxes.ready.announce(f.left) // for the next Forward
	}()
	for {
		ids, err := s.OutboxReady(ctx)
		if err != nil {
			return err
		}
		for _, id := range ids {
			f.start(ctx, id)
		}
	}
}

// forwarder runs one goroutine for each outbox with messages.
type forwarder struct {
	source  *outboxes
	log     *slog.Logger
	from    queue.FromShard
	to      Deliver
	turns   *fairshare.Places // held by the goroutines that deliver many messages at a time
	running sync.WaitGroup

	mu       sync.Mutex
	outboxes map[queue.ID]bool // outboxes with a goroutine; true: non-empty again
	left     []queue.ID        // outboxes abandoned because the context had ended
}

func (f *forwarder) start(ctx context.Context, id queue.ID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, runs := f.outboxes[id]; runs {
		f.outboxes[id] = true
		return
	}
	f.outboxes[id] = false
	f.running.Go(func() {
		for f.drain(ctx, id); !f.end(ctx, id); f.drain(ctx, id) {
		}
	})
}

// end reports whether the goroutine of a queue can end.
func (f *forwarder) end(ctx context.Context, id queue.ID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if ctx.Err() != nil {
		f.left = append(f.left, id)
		return true
	}
	if f.outboxes[id] {
		f.outboxes[id] = false
		return false
	}
	delete(f.outboxes, id)
	return true
}

// drain forwards until the outbox of a queue is empty, or ctx ends.
func (f *forwarder) drain(ctx context.Context, id queue.ID) {
	answers := false
	pause := time.Duration(0) // after the last attempt, if that failed
	for {
		n, err := f.step(ctx, id, answers)
		switch {
		case ctx.Err() != nil, n == 0 && err == nil:
			return
		case err != nil:
			if pause == 0 {
				f.log.Warn("messages cannot be forwarded to their queue; trying again", "queue", id, "error", err)
			}
			answers = false
			pause = min(max(2*pause, forwardPause), forwardLongest)
			if wait.For(ctx, pause) != nil {
				return
			}
		default:
			if pause > 0 {
				f.log.Info("messages are forwarded again", "queue", id)
			}
			answers, pause = true, 0
		}
	}
}

// step forwards messages and returns how many: one, or many if the queue's shard answers. Any number of queues may wait
// with one message each. Queues with many messages take turns, divided among the accounts that own them.
func (f *forwarder) step(ctx context.Context, id queue.ID, answers bool) (int, error) {
	most := 1
	if answers {
		most = forwardAtOnce
		account, err := f.source.account(ctx, id)
		if err != nil {
			return 0, err
		}
		give, err := f.turns.Take(ctx, account)
		if err != nil {
			return 0, err
		}
		defer give()
	}
	messages, err := f.source.ReadOutbox(ctx, id, most, forwardBytes)
	if len(messages) == 0 || err != nil {
		return 0, err
	}
	if err := f.deliver(ctx, id, messages); err != nil {
		return 0, err
	}
	return len(messages), f.source.Forwarded(ctx, id, messages[len(messages)-1].Position)
}

var errForwardTimeout = errors.New("the shard that serves the queue does not answer")

func (f *forwarder) deliver(ctx context.Context, id queue.ID, messages []queue.Transfer) error {
	ctx, cancel := context.WithTimeoutCause(ctx, forwardTimeout, errForwardTimeout)
	defer cancel()
	return f.to(ctx, id, f.from, messages)
}
