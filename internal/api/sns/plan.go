package sns

import (
	"context"
	"crypto/md5"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/tool/fairshare"
	"github.com/sluicemq/sluice/internal/topic"
	"github.com/sluicemq/sluice/internal/topic/delivery"
	"github.com/sluicemq/sluice/internal/topic/envelope"
	"github.com/sluicemq/sluice/internal/topic/filter"
)

// principal is the name of this service in the policies of queues, and the sender of its messages for consumers.
const principal = "sns.amazonaws.com"

// maxRawAttributes is the maximum number of attributes of a message in a queue.
const maxRawAttributes = 10

// plan holds the subscriptions of a topic that receive a message, and their copies.
type plan struct {
	publication queue.Publication
	refused     []refusedCopy
	entries     entries // of the accounts of the queues
	counts      [queue.TopicMetrics]uint64
}

// refusedCopy is a subscription that wants a message which its queue does not accept.
type refusedCopy struct {
	subscription *topic.Subscription
	why          error
	lost         error // why its dead-letter queue does not have it either; nil: it has it
}

// planner makes the plan of one message.
type planner struct {
	*publisher
	ctx       context.Context
	message   *outbound
	envelopes *envelope.Envelopes
	filters   map[string]*filter.Message // by text
	digests   map[string][md5.Size]byte  // of texts that are bodies without an envelope
	now       time.Time
}

// plan decides about each subscription of the message's topic, in its current state. The plan is not nil, even with an
// error: its entries must be ended.
func (s *publisher) plan(ctx context.Context, filtering *fairshare.Computation, o *outbound) (*plan, error) {
	_, subscriptions := s.topics.Subscribed(o.topic.Name)
	pl := &planner{
		publisher: s,
		ctx:       ctx,
		message:   o,
		filters:   make(map[string]*filter.Message),
		digests:   make(map[string][md5.Size]byte),
		now:       s.now(),
	}
	p := &plan{publication: queue.Publication{Topic: o.topic.Queue, ID: o.id}}
	if o.topic.Name.FIFO() {
		p.publication.Group, p.publication.Dedup = o.group, o.dedup
	}
	p.happens(queue.TopicPublished, 1)
	p.happens(queue.TopicPublishedBytes, o.size)
	for _, sub := range subscriptions {
		if sub.Pending() {
			continue
		}
		m := pl.filter(o.textFor(sub.Protocol))
		if err := filtering.Spend(sub.Cost(m)); err != nil {
			return p, errors.Join(protocol.ServiceUnavailable(), err)
		}
		wanted, err := sub.Wants(m)
		if err != nil {
			return p, err
		}
		if !wanted {
			p.happens(queue.TopicFiltered, 1)
			p.happens(filtered[sub.Reason(m)], 1)
			continue
		}
		if err := pl.add(p, sub); err != nil {
			return p, err
		}
	}
	if s.counting() {
		p.publication.Count = &queue.TopicCount{Topic: o.topic.Name.ARN(), Counts: p.counts}
	}
	return p, nil
}

// happens records the events that the topic counts if the message is accepted.
func (p *plan) happens(m queue.TopicMetric, n int) { p.counts[m] += uint64(n) }

// filtered are the metrics by the reason for which a filter rejects a message.
var filtered = [filter.Reasons]queue.TopicMetric{
	filter.NoAttributes: queue.TopicFilteredNoAttributes, filter.OtherAttributes: queue.TopicFilteredAttributes,
	filter.InvalidAttributes: queue.TopicFilteredInvalidAttributes, filter.OtherBody: queue.TopicFilteredBody,
	filter.InvalidBody: queue.TopicFilteredInvalidBody,
}

// filter returns the input of filter policies.
func (pl *planner) filter(text string) *filter.Message {
	m := pl.filters[text]
	if m == nil {
		attributes := make([]filter.Attribute, len(pl.message.attributes))
		for i, a := range pl.message.attributes {
			attributes[i] = filter.Attribute(a)
		}
		m = filter.NewMessage(text, attributes)
		pl.filters[text] = m
	}
	return m
}

// add adds the copy for a subscription to the plan. A copy that the queue refuses goes to the dead-letter queue of the
// subscription.
func (pl *planner) add(p *plan, sub *topic.Subscription) error {
	to, refused := pl.route(p, sub)
	if refused != nil && refused.isFullOf(pl.message.topic.Name.Account) {
		return errors.Join(protocol.Throttled(), refused.why)
	}
	switch {
	case refused != nil:
		p.refused = append(p.refused, *refused)
		p.happens(queue.TopicFailed, 1)
		if to.queue != 0 {
			p.happens(queue.TopicRedriven, 1)
		} else if !errors.Is(refused.lost, delivery.ErrNoDeadLetters) {
			p.happens(queue.TopicNotRedriven, 1)
		}
	case !sub.Protocol.Waits(): // of others it is not known yet
		p.happens(queue.TopicDelivered, 1)
	}
	if to.queue == 0 {
		return nil
	}
	one, err := pl.copyFor(sub, to)
	if err != nil {
		return err
	}
	p.publication.Copies = append(p.publication.Copies, one)
	return nil
}

// destination is where the copy for a subscription goes.
type destination struct {
	queue queue.ID // 0: nowhere
	fifo  bool     // it is a FIFO queue
}

// route returns where the copy for a subscription goes, and the refusals on the way.
func (pl *planner) route(p *plan, sub *topic.Subscription) (destination, *refusedCopy) {
	to, why := pl.destination(p, sub)
	if why == nil {
		return to, nil
	}
	to, lost := pl.deadLetters(p, sub)
	return to, &refusedCopy{sub, why, lost}
}

// destination returns where a subscription's messages go, or why this message is not accepted there.
func (pl *planner) destination(p *plan, sub *topic.Subscription) (destination, error) {
	switch {
	case sub.Protocol.Waits():
		return destination{queue: sub.Queue}, nil
	case sub.Protocol == topic.SMS:
		return destination{}, errNoTextMessages
	case pl.isEmpty(sub):
		return destination{}, errNoBody
	}
	q, err := pl.gate.queueFor(pl.message.topic, sub.Endpoint)
	if err != nil {
		return destination{}, err
	}
	if most := q.Attributes.MaximumMessageSize; pl.message.size > most {
		return destination{}, fmt.Errorf(
			"the message has %d bytes, and the queue takes at most %d", pl.message.size, most,
		)
	}
	if n := len(pl.message.attributes); sub.Attributes.Raw && n > maxRawAttributes {
		return destination{}, fmt.Errorf("the message has %d attributes, and a queue takes at most %d in raw delivery", n, maxRawAttributes)
	}
	if err := pl.store(p, q.Name.Account, pl.message.size); err != nil {
		return destination{}, err
	}
	return destination{q.ID, q.Attributes.FIFO}, nil
}

// errNoBody is the reason why a queue does not accept a message whose raw text for its protocol is empty.
var errNoBody = errors.New("the message is empty, and a queue takes no message without a body")

// errNoTextMessages is the reason why no phone gets a message.
var errNoTextMessages = errors.New("this server sends no text messages")

// isEmpty reports whether the subscription's copy has an empty body.
func (pl *planner) isEmpty(sub *topic.Subscription) bool {
	return sub.Attributes.Raw && pl.message.textFor(sub.Protocol) == ""
}

// deadLetters returns the dead-letter queue of a subscription, or why there is none that accepts messages.
func (pl *planner) deadLetters(p *plan, sub *topic.Subscription) (destination, error) {
	switch {
	case sub.Attributes.Redrive == "":
		return destination{}, delivery.ErrNoDeadLetters
	case pl.isEmpty(sub):
		return destination{}, fmt.Errorf("the dead-letter queue: %w", errNoBody)
	}
	q, err := pl.gate.queueFor(pl.message.topic, sub.Attributes.Redrive)
	if err != nil {
		return destination{}, fmt.Errorf("the dead-letter queue: %w", err)
	}
	if err := pl.store(p, q.Name.Account, pl.message.size); err != nil {
		return destination{}, fmt.Errorf("the dead-letter queue: %w", err)
	}
	return destination{q.ID, q.Attributes.FIFO}, nil
}

// copyFor returns the copy for a subscription.
func (pl *planner) copyFor(sub *topic.Subscription, to destination) (queue.Copy, error) {
	one, err := pl.contentFor(sub)
	if err != nil {
		return one, err
	}
	one.Queue = to.queue
	// A FIFO topic does not pass its groups to standard queues; a standard topic passes on the published group, for
	// fair queueing.
	switch {
	case sub.Protocol.Waits():
	case to.fifo:
		one.Message.Group, one.Message.Dedup = pl.message.group, pl.message.dedup
	case !pl.message.topic.Name.FIFO():
		one.Message.Group = pl.message.group
	}
	return one, nil
}

// contentFor returns the message in the form for a subscription.
func (pl *planner) contentFor(sub *topic.Subscription) (one queue.Copy, err error) {
	if sub.Protocol.Waits() {
		return pl.deliveryFor(sub)
	}
	o := pl.message
	text := o.textFor(sub.Protocol)
	one.Message = queue.Outgoing{ID: queue.MessageID(uuid.New()), Sender: principal, Trace: o.trace}
	if sub.Attributes.Raw {
		one.Message.Body, one.Message.BodyMD5, one.Message.Attributes = text, pl.digest(text), o.attributes
		return one, nil
	}
	one.Message.Body, one.Tail, one.SequenceAt, err = pl.envelope(text, sub)
	return one, err
}

// toFIFO reports whether the messages of a subscription go to a FIFO queue.
func toFIFO(sub *topic.Subscription) bool { return sub.Protocol == topic.SQS && isFIFO(sub.Endpoint) }

// isFIFO reports whether a name or an ARN belongs to a FIFO queue.
func isFIFO(queue string) bool { return strings.HasSuffix(queue, service.FIFOSuffix) }

// outgoing returns a message with that body.
func outgoing(body string) queue.Outgoing {
	return queue.Outgoing{
		ID: queue.MessageID(uuid.New()), Sender: principal, Body: body, BodyMD5: md5.Sum([]byte(body)),
	}
}

// digest returns the digest of a body that several copies share.
func (pl *planner) digest(body string) [md5.Size]byte {
	sum, known := pl.digests[body]
	if !known {
		sum = md5.Sum([]byte(body))
		pl.digests[body] = sum
	}
	return sum
}

// envelope returns the message as a subscription's JSON, in two parts, and the place of the sequence number in the
// first part.
func (pl *planner) envelope(text string, sub *topic.Subscription) (begins, rest string, sequenceAt int, err error) {
	if pl.envelopes == nil {
		o := pl.message
		n := envelope.Notification{
			ID: o.id.String(), TopicARN: o.topic.Name.ARN(), Subject: o.subject, Time: pl.now,
			FIFO: o.topic.Name.FIFO(),
		}
		for _, a := range o.attributes {
			value := a.Value
			if binaryType(a.Type) {
				value = base64.StdEncoding.EncodeToString([]byte(value))
			}
			n.Attributes = append(n.Attributes, envelope.Attribute{Name: a.Name, Type: a.Type, Value: value})
		}
		signer, err := pl.links.signer(o.topic)
		if err != nil && !n.FIFO {
			return "", "", 0, err
		}
		pl.envelopes = envelope.New(n, signer)
	}
	return pl.envelopes.For(text, pl.links.unsubscribeURL(sub))
}
