package sns

import (
	"context"
	"errors"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/tenant"
	"github.com/sluicemq/sluice/internal/topic"
	"github.com/sluicemq/sluice/internal/topic/delivery"
	"github.com/sluicemq/sluice/internal/topic/envelope"
	"github.com/sluicemq/sluice/internal/topic/retry"
)

// deliveryFor returns the deliverer's view of a subscription that is not a queue.
func (pl *planner) deliveryFor(sub *topic.Subscription) (queue.Copy, error) {
	o := pl.message
	text := o.textFor(sub.Protocol)
	note := delivery.Note{Type: envelope.TypeNotification, Raw: sub.Attributes.Raw}
	var attributes []queue.Attribute
	rest := ""
	switch {
	case sub.Protocol == topic.Email:
		note.Subject, note.Link = o.subject, pl.links.unsubscribeURL(sub)
	case note.Raw:
		attributes = o.attributes // an endpoint does not get them, a dead-letter queue does
	default:
		var err error
		if text, rest, _, err = pl.envelope(text, sub); err != nil {
			return queue.Copy{}, err
		}
		note.Subject = o.subject
	}
	message := note.Outgoing(o.id, text)
	message.Trace, message.Attributes = o.trace, attributes
	return queue.Copy{Message: message, Tail: rest}, nil
}

// targets is the deliverer's view of the subscriptions that are not queues.
type targets struct {
	*core
	gate     *gate
	messages Messages
	tenants  *tenant.Tenants
	catchUp  func(context.Context) error
}

// Target returns the subscription that an internal queue belongs to, for the deliverer.
func (s *targets) Target(id queue.ID) (delivery.Target, bool) {
	sub := s.topics.Fed(id)
	if sub == nil {
		return delivery.Target{}, false
	}
	t := s.topics.Find(sub.Topic)
	if t == nil {
		return delivery.Target{}, false
	}
	all, _ := retry.ParseTopic(t.Attributes.Delivery) // an unreadable policy counts as none
	own, _ := retry.ParseSubscription(sub.Attributes.Delivery)
	target := delivery.Target{
		Subscription: sub.ARN(), Topic: t.Name.ARN(), Protocol: string(sub.Protocol), Endpoint: sub.Endpoint,
		DisplayName: t.Attributes.DisplayName, Ended: sub.Ending != nil, Policy: retry.Effective(all, own),
	}
	if sub.Protocol == topic.Email || sub.Protocol == topic.EmailJSON {
		target.Policy.Retries, target.Policy.PerSecond = retry.MailRetries, 0
	}
	return target, true
}

// errRequest is the reason why a message with a token is not kept: a reader of the dead-letter queue is not the
// endpoint.
var errRequest = errors.New("it was about the subscription itself: who wants that subscribes again")

// DeadLetter puts a message that was not delivered into the dead-letter queue of its subscription; see
// delivery.DeadLetter.
func (s *targets) DeadLetter(ctx context.Context, id queue.ID, m *queue.Message) (lost, err error) {
	sub := s.topics.Fed(id)
	if sub == nil {
		return errNoSubscription(), nil
	}
	t := s.topics.Find(sub.Topic)
	switch {
	case t == nil:
		return errNoTopic(), nil
	case delivery.NoteOf(m).Type != envelope.TypeNotification:
		return errRequest, nil
	case sub.Attributes.Redrive == "":
		return delivery.ErrNoDeadLetters, nil
	case m.Body == "":
		return errNoBody, nil
	}
	q, lost := s.gate.queueFor(t, sub.Attributes.Redrive)
	if lost != nil { // the queue or its policy may have been created through another node a moment ago
		if err := s.catchUp(ctx); err != nil {
			return nil, err
		}
		if q, lost = s.gate.queueFor(t, sub.Attributes.Redrive); lost != nil {
			return lost, nil
		}
	}
	message := outgoing(m.Body)
	message.Attributes, message.Trace = m.Attributes, m.Trace
	entry, err := s.tenants.Store(ctx, q.Name.Account, tenant.Amount{
		Messages: 1, Bytes: int64(message.Size()) + queue.RecordBytes,
	})
	if err != nil {
		return nil, err // the message stays where it is until there is room
	}
	_, err = s.messages.Publish(ctx, []queue.Publication{{
		ID: m.ID, Copies: []queue.Copy{{Queue: q.ID, Message: message}},
	}})
	entry.End(true) // even if it is unknown
	return nil, err
}
