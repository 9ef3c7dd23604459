package delivery

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/topic/envelope"
)

// worker delivers the messages of one subscription.
type worker struct {
	*run
	id queue.ID

	// These two belong to run.mu.
	runs  bool
	again bool // messages have become available while it ran

	next  time.Time // when a subscription with a limited rate may get the next message
	works bool      // the last delivery succeeded
	quick bool      // and the endpoint answered within slowAfter

	dropping sync.Mutex // guards the fields below: messages are sent side by side
	told     time.Time  // when dropped messages were last logged
	quiet    int        // dropped messages since
}

// drain delivers until the queue is empty, or ctx ends.
func (w *worker) drain(ctx context.Context) {
	pause := time.Duration(0) // the last one, if the shard did not answer
	for {
		more, err := w.step(ctx)
		switch {
		case ctx.Err() != nil,
			errors.Is(err, queue.ErrNoQueue),
			err == nil && !more,
			errors.Is(err, errNoSubscription) && pause >= longestPause:
			w.tellRest()
			return
		case err != nil:
			if pause == 0 && !errors.Is(err, errNoSubscription) {
				w.Log.Warn("messages for a subscription cannot be received or deleted; trying again", "queue", w.id, "error", err)
			}
			pause = min(max(2*pause, shortestPause), longestPause)
			if !w.wait(ctx, w.Now().Add(pause)) {
				return
			}
		default:
			pause = 0
		}
	}
}

// errNoSubscription reports a queue without a subscription: both were created a moment ago, or deleted, and this node
// knows only one of the two. That passes.
var errNoSubscription = errors.New("the subscription of the queue is not known here")

// step delivers some messages: one, or several if the endpoint has accepted the last. It reports whether there were
// any.
func (w *worker) step(ctx context.Context) (more bool, err error) {
	target, ok := w.Find(w.id)
	if !ok {
		return false, errNoSubscription
	}
	places, most := w.slow, 1
	if w.works {
		most = atOnce
	}
	if w.works && w.quick {
		places = w.fast
	}
	if rate := target.Policy.PerSecond; rate > 0 {
		if most = min(most, rate); !w.wait(ctx, w.next) {
			return false, nil
		}
	}
	give, err := places.Take(ctx, target.Account(), target.host())
	if err != nil { // ctx has ended
		return false, nil //nolint:nilerr // as drain sees
	}
	defer give()
	invisible := visibilityMargin
	if sender := w.Senders[target.Protocol]; sender != nil {
		invisible += sender.Timeout()
	}
	messages, err := w.source.Receive(ctx, w.id, queue.Receive{Max: most, Timeout: &invisible}, 0)
	if err != nil || len(messages) == 0 {
		return false, err
	}
	if rate := target.Policy.PerSecond; rate > 0 {
		w.next = w.Now().Add(time.Duration(len(messages)) * time.Second / time.Duration(rate))
	}
	return true, w.settle(ctx, &target, messages, w.send(ctx, &target, messages))
}

// result is the outcome for a message.
type result struct {
	outcome Outcome
	delay   time.Duration // of Retried
	broken  bool          // the delivery was aborted, because ctx has ended
	refused bool          // of Dropped: the dead-letter queue does not accept the message
	silent  bool          // not counted in the topic: it is about the subscription, or no longer wanted
}

// send delivers messages side by side.
func (w *worker) send(ctx context.Context, t *Target, messages []shard.Message) []result {
	results := make([]result, len(messages))
	began := w.Now()
	var sending sync.WaitGroup
	for i := range messages {
		sending.Go(func() { results[i] = w.sendOne(ctx, t, &messages[i]) })
	}
	sending.Wait()
	w.works, w.quick = true, w.Now().Sub(began) < slowAfter
	for _, r := range results {
		w.works = w.works && r.outcome == Delivered && !r.broken
	}
	return results
}

func (w *worker) sendOne(ctx context.Context, t *Target, m *shard.Message) result {
	kind := NoteOf(&m.Message).Type
	if t.Ended && kind != envelope.TypeUnsubscribe {
		return result{outcome: Delivered, silent: true}
	}
	r := w.bring(ctx, t, m)
	r.silent = kind != envelope.TypeNotification
	return r
}

// bring makes a delivery, and decides what happens to the message.
func (w *worker) bring(ctx context.Context, t *Target, m *shard.Message) result {
	err := w.attempt(ctx, t, m)
	if err == nil {
		w.counters.add(t.Protocol, Delivered)
		return result{outcome: Delivered}
	}
	if ctx.Err() != nil {
		return result{broken: true}
	}
	delay, again := t.Policy.Retries.Delay(int(min(m.Receives, 1<<30)))
	if again && !IsPermanent(err) {
		w.Log.Debug(
			"a delivery has failed and will be retried",
			"subscription",
			t.Subscription,
			"message",
			m.ID,
			"attempt",
			m.Receives,
			"after",
			delay,
			"error",
			err,
		)
		w.counters.add(t.Protocol, Retried)
		return result{outcome: Retried, delay: delay}
	}
	return w.giveUp(ctx, t, m, err)
}

// attempt makes one delivery.
func (w *worker) attempt(ctx context.Context, t *Target, m *shard.Message) (err error) {
	sender := w.Senders[t.Protocol]
	if sender == nil {
		return fmt.Errorf("this server does not deliver by the protocol %s", t.Protocol)
	}
	w.sending.Add(1)
	defer w.sending.Add(-1)
	return sender.Send(ctx, t, &Message{Note: NoteOf(&m.Message), ID: m.ID.String(), Body: m.Body, Trace: m.Trace})
}

// giveUp moves an undeliverable message to the dead-letter queue, or drops it.
func (w *worker) giveUp(ctx context.Context, t *Target, m *shard.Message, why error) result {
	lost, err := w.DeadLetter(ctx, w.id, &m.Message)
	switch {
	case ctx.Err() != nil:
		return result{broken: true}
	case err != nil:
		w.Log.Warn(
			"a message cannot be delivered, and its dead-letter queue cannot be reached; it is kept",
			"subscription",
			t.Subscription,
			"message",
			m.ID,
			"error",
			why,
			"dead_letters",
			err,
		)
		w.counters.add(t.Protocol, Retried)
		return result{outcome: Retried, delay: keepPause}
	case lost != nil:
		w.counters.add(t.Protocol, Dropped)
		w.tellDropped(t, m, why, lost)
		return result{outcome: Dropped, refused: !errors.Is(lost, ErrNoDeadLetters)}
	}
	w.Log.Info(
		"a message was not delivered and is in the dead-letter queue",
		"subscription",
		t.Subscription,
		"message",
		m.ID,
		"attempts",
		m.Receives,
		"error",
		why,
	)
	w.counters.add(t.Protocol, DeadLettered)
	return result{outcome: DeadLettered}
}

// count returns the topic's count for the results, or nil.
func (w *worker) count(t *Target, results []result) *queue.TopicCount {
	if !w.Counting() {
		return nil
	}
	c := &queue.TopicCount{Topic: t.Topic}
	for _, r := range results {
		switch {
		case r.silent || r.broken || r.outcome == Retried:
		case r.outcome == Delivered:
			c.Counts[queue.TopicDelivered]++
		default:
			c.Counts[queue.TopicFailed]++
			if r.outcome == DeadLettered {
				c.Counts[queue.TopicRedriven]++
			} else if r.refused {
				c.Counts[queue.TopicNotRedriven]++
			}
		}
	}
	return c
}

// settle deletes and counts the messages that are done, and postpones the others.
func (w *worker) settle(ctx context.Context, t *Target, messages []shard.Message, results []result) error {
	var done []queue.Receipt
	var later []queue.Visibility
	var back []queue.Delivery
	for i, r := range results {
		d := messages[i].Delivery
		receipt := queue.Receipt{Position: d.Position, Number: d.Receipt}
		switch {
		case r.broken:
			back = append(back, d)
		case r.outcome == Retried:
			later = append(later, queue.Visibility{Receipt: receipt, Timeout: r.delay})
		default:
			done = append(done, receipt)
		}
	}
	// A delivered message is deleted even if the shard is about to move.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), returnTimeout)
	defer cancel()
	var errs []error
	if len(done) > 0 {
		_, err := w.source.Settle(ctx, w.id, done, w.count(t, results))
		errs = append(errs, err)
	}
	if len(later) > 0 {
		_, err := w.source.ChangeVisibility(ctx, w.id, later)
		errs = append(errs, err)
	}
	if len(back) > 0 {
		errs = append(errs, w.source.Return(ctx, w.id, back, ""))
	}
	return errors.Join(errs...)
}

// dropInterval is how often the log reports messages of a subscription that are dropped.
const dropInterval = 10 * time.Second

// tellDropped logs a lost message: the first one at once, the others together.
func (w *worker) tellDropped(t *Target, m *shard.Message, why, lost error) {
	w.dropping.Lock()
	defer w.dropping.Unlock()
	w.quiet++
	if now := w.Now(); w.told.IsZero() || now.Sub(w.told) >= dropInterval {
		w.Log.Warn("messages were not delivered to a subscription and are lost", "subscription", t.Subscription,
			"messages", w.quiet, "last", m.ID, "attempts", m.Receives, "error", why, "dead_letters", lost)
		w.told, w.quiet = now, 0
	}
}

// tellRest logs the dropped messages that were not logged yet.
func (w *worker) tellRest() {
	w.dropping.Lock()
	defer w.dropping.Unlock()
	if w.quiet > 0 {
		w.Log.Warn("messages were not delivered to a subscription and are lost", "queue", w.id, "messages", w.quiet)
		w.quiet = 0
	}
}
