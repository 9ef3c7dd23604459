package monitor

import (
	"context"
	"errors"
	"time"
)

// Publisher publishes to topics.
type Publisher interface {
	// Publish publishes a notification to its topic. An error that is or wraps a *Refusal means that a retry is
	// useless.
	Publish(ctx context.Context, a *Action) error
}

// Refusal is the reason why a notification cannot be published.
type Refusal struct{ Reason string }

func (r *Refusal) Error() string { return r.Reason }

const (
	// publishTimeout is how long a topic may take.
	publishTimeout = 10 * time.Second
	// firstPause is the pause after the first failure. Each further pause is twice as long, up to lastPause.
	firstPause = time.Second
	lastPause  = time.Minute
	// giveUp is the age at which an action is given up if its topic cannot be published to.
	giveUp = time.Hour
)

// attempts holds the state of actions that still have to be carried out or recorded, by their keys.
type attempts map[string]attempt

type attempt struct {
	pause time.Duration
	next  time.Time // time of the next attempt
	// outcome is the outcome of the notification: only its record still has to be changed. It is nil before.
	outcome *outcome
}

// outcome is the reason why a notification was given up, or empty if it was published.
type outcome struct{ failure string }

// after returns the attempt that follows a failure.
func (a attempt) after(now time.Time) attempt {
	a.pause = min(max(2*a.pause, firstPause), lastPause)
	a.next = now.Add(a.pause)
	return a
}

// Deliver carries out the actions that are due. On a node that does not own the control store it does nothing.
func (e *Evaluator) Deliver(ctx context.Context, now time.Time) error {
	if e.Monitor.control.Elsewhere() {
		clear(e.attempts)
		return nil
	}
	var failures []error
	for _, a := range e.Monitor.pending() {
		if now.Before(e.attempts[a.id].next) {
			continue
		}
		if err := e.deliver(ctx, a, now); err != nil {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

// deliver publishes a notification and removes its record. While the record cannot be changed, the outcome stays in
// memory, so that the notification is not published again. It is repeated only if the outcome of a publication is
// unknown, or if another node continues, which does not know it.
func (e *Evaluator) deliver(ctx context.Context, a *Action, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	was := e.attempts[a.id]
	if was.outcome == nil {
		found, err := e.publish(ctx, a, now)
		if err != nil {
			e.attempts[a.id] = was.after(now)
			return err
		}
		was = attempt{outcome: found}
	}
	if err := e.Monitor.Change(ctx, func(tx *Tx) error { return tx.Done(a, was.outcome.failure, now) }); err != nil {
		e.attempts[a.id] = was.after(now)
		return err
	}
	delete(e.attempts, a.id)
	return nil
}

// publish publishes a notification. An error means that it must be retried.
func (e *Evaluator) publish(ctx context.Context, a *Action, now time.Time) (*outcome, error) {
	err := e.Topics.Publish(ctx, a)
	refusal, refused := errors.AsType[*Refusal](err)
	switch {
	case refused:
		return &outcome{refusal.Reason}, nil
	case err != nil && now.Sub(a.Created) > giveUp:
		return &outcome{"The topic could not be published to for an hour."}, nil
	}
	return &outcome{}, err
}
