package sns

import (
	"context"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/topic"
	"github.com/sluicemq/sluice/internal/topic/envelope"
)

// When a caller other than the owner ends a subscription, the endpoint gets a message with a link that restores it. The
// record of the subscription stays until the link expires, and so does the queue in which the message waits for the
// endpoint. There are two changes: one ends the subscription, the other records that the message is in the queue. If
// the server is killed in between, Tend puts the message there.

// endings ends subscriptions that can be restored.
type endings struct {
	*core
	links         *links
	confirmations *confirmations
}

// end ends a subscription and notifies its endpoint. It returns the link that restores the subscription, if there is
// one.
func (s *endings) end(ctx context.Context, sub *topic.Subscription) (back string, err error) {
	now := s.now()
	token, confirmation := newToken(sub, now)
	ended, err := control.Decide(ctx, s.change, func(tx *topic.Tx) (*topic.Subscription, error) {
		return tx.End(sub.ID, confirmation, now)
	})
	if err != nil || ended == nil {
		return "", err
	}
	if err := s.tellEnd(ctx, ended, token); err != nil {
		s.log.Warn("an endpoint has not been notified yet that its subscription has ended", "subscription", ended.ARN(), "error", err)
	}
	return s.links.subscribeURL(ended, token), nil
}

// tellEnd puts the message about the end of a subscription into its queue.
func (s *endings) tellEnd(ctx context.Context, sub *topic.Subscription, token string) error {
	if err := s.confirmations.sendToken(ctx, sub, envelope.TypeUnsubscribe, token); err != nil {
		return err
	}
	err := s.change(ctx, func(tx *topic.Tx) error {
		_, err := tx.UpdateEnded(sub.ID, func(sub *topic.Subscription) error {
			sub.Ending.Told = true
			return nil
		})
		return err
	})
	if saysGone(err) { // the endpoint was quick, and has restored it
		return nil
	}
	return err
}

const (
	// tendEvery is how often Tend is called.
	tendEvery = time.Minute
	// tellAtOnce is how many endpoints a call of Tend notifies.
	tellAtOnce = 100
)

// Run calls Tend until ctx ends, while mayTend.
func (s *endings) Run(ctx context.Context, mayTend func() bool) {
	tick := time.NewTicker(tendEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !mayTend() {
			continue
		}
		if err := s.Tend(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("subscriptions that have ended were not tended to; it is tried again", "error", err)
		}
	}
}

// Tend notifies the endpoints of subscriptions that have ended and for which no notification was attempted in the last
// minute. It removes the subscriptions that can no longer be confirmed. It is called where the control store is owned.
func (s *endings) Tend(ctx context.Context) error {
	now := s.now()
	if old := s.topics.Forgotten(now); len(old) > 0 {
		if err := s.change(ctx, func(tx *topic.Tx) error { return tx.Forget(old, now) }); err != nil {
			return err
		}
	}
	told := 0
	var failed error
	for _, sub := range s.topics.AllEnded() {
		// A queue that does not accept the message is not tried again.
		if sub.Ending.Told || sub.Protocol == topic.SQS || now.Sub(sub.Ending.At) < tendEvery || told == tellAtOnce {
			continue
		}
		told++
		if err := s.tellEndAgain(ctx, sub); err != nil && !saysGone(err) && failed == nil {
			failed = err
		}
	}
	return failed
}

// tellEndAgain is tellEnd with a new token, because the record does not contain the first one. It is valid for the same
// time.
func (s *endings) tellEndAgain(ctx context.Context, sub *topic.Subscription) error {
	token, confirmation := newToken(sub, sub.Ending.At)
	err := s.change(ctx, func(tx *topic.Tx) error {
		_, err := tx.UpdateEnded(sub.ID, func(sub *topic.Subscription) error {
			c := confirmation
			sub.Confirmation = &c
			return nil
		})
		return err
	})
	if err != nil {
		return err
	}
	return s.tellEnd(ctx, sub, token)
}
