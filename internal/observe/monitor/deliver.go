package monitor

import (
	"context"
	"errors"
	"time"
)

// Publisher publishes to topics.
type Publisher interface {
	// Publish publishes a message for an alarm of an account, to the topic with an ARN. An error that is or wraps a
	// *Refusal says that it is in vain to try again.
	Publish(ctx context.Context, topic, subject, message string, alarm Name) error
}

// Refusal says why a notification cannot be published.
type Refusal struct{ Reason string }

func (r *Refusal) Error() string { return r.Reason }

const (
	// publishTimeout is how long a topic may take.
	publishTimeout = 10 * time.Second
	// firstPause is how long to wait after the first failure; each further pause is twice as long, up to lastPause.
	firstPause = time.Second
	lastPause  = time.Minute
	// giveUp is how old an action becomes whose topic cannot be published to.
	giveUp = time.Hour
)

// attempts are when actions that have failed are to be tried again, by their keys.
type attempts map[string]attempt

type attempt struct {
	pause time.Duration
	next  time.Time
}

// Deliver carries out the actions that are due. On a node that does not own the control store it does nothing.
func (e *Evaluator) Deliver(ctx context.Context, now time.Time) error {
	if e.Monitor.control.Elsewhere() {
		clear(e.attempts)
		return nil
	}
	var failures []error
	for _, a := range e.Monitor.pending() {
		if now.Before(e.attempts[a.Key].next) {
			continue
		}
		if err := e.deliver(ctx, a, now); err != nil {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

// deliver publishes a notification and removes its record, unless it is to be tried again.
func (e *Evaluator) deliver(ctx context.Context, a *Action, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	err := e.Topics.Publish(ctx, a.Target, a.Subject, a.Message, a.Alarm)
	refusal, refused := errors.AsType[*Refusal](err)
	failure := ""
	switch {
	case refused:
		failure = refusal.Reason
	case err != nil && now.Sub(a.Created) > giveUp:
		failure = "The topic could not be published to for an hour."
	case err != nil:
		was := e.attempts[a.Key]
		pause := min(max(2*was.pause, firstPause), lastPause)
		e.attempts[a.Key] = attempt{pause, now.Add(pause)}
		return err
	}
	delete(e.attempts, a.Key)
	return e.Monitor.Change(ctx, func(tx *Tx) error { return tx.Done(a, failure, now) })
}
