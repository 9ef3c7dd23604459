package sns

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/tenant"
	"github.com/sluicemq/sluice/internal/tool/fairshare"
	"github.com/sluicemq/sluice/internal/tool/throttle"
	"github.com/sluicemq/sluice/internal/topic"
)

// publisher publishes messages, for clients and for other services of this server.
type publisher struct {
	*core
	links    *links
	gate     *gate
	messages Messages
	access   *access.Decider
	keys     *service.KeyAccess
	tenants  *tenant.Tenants
	counting func() bool
	catchUp  func(context.Context) error

	filtering *fairshare.Slices

	refusals throttle.Minute // log lines about them; see warnOfRefusal
}

func (s *publisher) register(wire *protocol.Service) {
	protocol.Register(wire, "Publish", s.publish, protocol.Data)
	protocol.Register(wire, "PublishBatch", s.publishBatch, protocol.Data)
}

type publishInput struct {
	TopicArn    *string `max:"2048"`
	TargetArn   *string `max:"2048"`
	PhoneNumber *string `max:"64"`
	message
}

type publishOutput struct {
	MessageId      string
	SequenceNumber string `json:",omitempty"`
}

func (s *publisher) publish(ctx context.Context, c *protocol.Call, in *publishInput) (*publishOutput, error) {
	t, err := s.publishedTo(c, in)
	if err != nil {
		return nil, err
	}
	o, err := in.check(c, t, "")
	if err != nil {
		return nil, err
	}
	if err := s.useKey(c, t); err != nil {
		return nil, err
	}
	if err := s.take(c, t, 1); err != nil {
		return nil, err
	}
	published, err := s.send(ctx, c, []*outbound{o})
	if err != nil {
		return nil, err
	}
	return &publishOutput{published[0].ID.String(), sequence(published[0].Sequence)}, nil
}

// publishedTo returns the topic that a request publishes to. If the request names something else, it returns the error
// for that.
func (s *publisher) publishedTo(c *protocol.Call, in *publishInput) (*topic.Topic, error) {
	switch {
	case in.PhoneNumber != nil && !phoneNumber.MatchString(*in.PhoneNumber):
		return nil, errParameter("PhoneNumber Reason: %s is not valid to publish to", *in.PhoneNumber)
	case in.PhoneNumber != nil:
		return nil, errUnsupported("PhoneNumber", "This server does not send text messages to phones.")
	case in.TopicArn != nil:
		return s.find(c, in.TopicArn, "SNS:Publish")
	case in.TargetArn == nil:
		return nil, errParameter("TopicArn or TargetArn Reason: no value for required parameter")
	case isPushEndpoint(*in.TargetArn):
		return nil, errParameter("TargetArn Reason: No endpoint found for the target arn specified")
	}
	n, err := topicNamed(c, "TargetArn", in.TargetArn)
	if err != nil {
		return nil, err
	}
	return s.findNamed(c, n, "SNS:Publish", func(*service.Subject) {})
}

// isPushEndpoint reports whether an ARN is the ARN of an application on a device. This server has no such applications.
func isPushEndpoint(arn string) bool { return strings.Contains(arn, ":endpoint/") }

// phoneNumber is a number of E.164.
var phoneNumber = regexp.MustCompile(`^\+?[1-9][0-9]{1,14}$`)

// sequence formats a SequenceNumber; messages of standard topics have none.
func sequence(n uint64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%020d", n)
}

// useKey returns nil if the caller may encrypt with the key of a topic. Notices of this server need no permission.
func (s *publisher) useKey(c *protocol.Call, t *topic.Topic) error {
	err := s.keys.Authorize(c, t.Name.Account, t.Name.Region, t.Attributes.KMSKey, service.ToEncrypt)
	if denial, ok := errors.AsType[*access.Denial](err); ok {
		return errors.Join(
			service.Modelled("KMSAccessDeniedException", "KMSAccessDenied", 400, "%s", denial.Error()), denial,
		)
	}
	return err
}

// send publishes messages to their topic, all of them or none.
func (s *publisher) send(ctx context.Context, c *protocol.Call, messages []*outbound) ([]queue.Published, error) {
	if key := messages[0].topic.Attributes.KMSKey; key != "" {
		err := s.gate.checkKey(key)
		if e, ok := service.OfKey(err, service.Shorten(key)); ok {
			return nil, errors.Join(errKey(e), err)
		}
	}
	if err := s.checkRoom(); err != nil {
		return nil, err
	}
	payer := messages[0].topic.Name.Account
	if c != nil && !service.Anonymous(c) {
		payer = service.Caller(c).Account
	}
	plans, err := s.planAll(ctx, payer, messages)
	if err != nil {
		return nil, err
	}
	defer func() {
		for _, p := range plans {
			p.entries.end(true) // even if that is unknown
		}
	}()
	publications := service.Convert(plans, func(p *plan) queue.Publication { return p.publication })
	var published []queue.Published
	if publications[0].Topic == 0 && !hasEffect(publications) {
		published = service.Convert(publications, func(p queue.Publication) queue.Published {
			return queue.Published{ID: p.ID}
		})
	} else if published, err = s.messages.Publish(ctx, publications); err != nil {
		return nil, failure(err)
	}
	s.note(c, plans, published)
	return published, nil
}

// hasEffect reports whether publications to a standard topic change anything.
func hasEffect(publications []queue.Publication) bool {
	for i := range publications {
		if len(publications[i].Copies) > 0 || publications[i].Count != nil {
			return true
		}
	}
	return false
}

// planAll plans all messages, in the time of an account. If a queue refuses one, the node first catches up: the queue
// or its permission may have been created through another node a moment ago.
func (s *publisher) planAll(ctx context.Context, payer string, messages []*outbound) ([]*plan, error) {
	plans, refused, err := s.plansOf(ctx, payer, messages)
	if err != nil || !refused {
		return plans, err
	}
	ended(plans)
	if err := s.catchUp(ctx); err != nil {
		return nil, failure(fmt.Errorf("catch up with the control store: %w", err))
	}
	plans, _, err = s.plansOf(ctx, payer, messages)
	return plans, err
}

func (s *publisher) plansOf(
	ctx context.Context, payer string, messages []*outbound,
) (plans []*plan, refused bool, err error) {
	filtering := s.filtering.Begin(ctx, payer)
	defer filtering.End()
	for _, o := range messages {
		p, err := s.plan(ctx, filtering, o)
		plans = append(plans, p)
		if err != nil {
			ended(plans)
			return nil, false, err
		}
		refused = refused || slices.ContainsFunc(p.refused, func(r refusedCopy) bool { return !r.isFull() })
	}
	return plans, refused, nil
}

// note adds the publications to the request log, and the subscriptions that have lost a message to the log.
func (s *publisher) note(c *protocol.Call, plans []*plan, published []queue.Published) {
	copies, refused, duplicates := 0, 0, 0
	ids := make([]string, len(published))
	for i, p := range plans {
		copies += len(p.publication.Copies)
		refused += len(p.refused)
		if ids[i] = published[i].ID.String(); published[i].Duplicate {
			duplicates++
			continue
		}
		for _, r := range p.refused {
			s.warnOfRefusal(&r)
		}
	}
	if c == nil || !c.Notes.Wanted() {
		return
	}
	c.Notes.Set(noteMessages, len(published))
	c.Notes.Set(noteMessageIDs, strings.Join(ids, ","))
	c.Notes.Set(noteCopies, copies)
	if refused > 0 {
		c.Notes.Set(noteRefused, refused)
	}
	if duplicates > 0 {
		c.Notes.Set(noteDuplicates, duplicates)
	}
}

// warnOfRefusal logs, once a minute, that the queue of a subscription refuses the messages of its topic.
func (s *publisher) warnOfRefusal(r *refusedCopy) {
	if !s.refusals.Allow(s.now()) {
		return
	}
	if r.lost != nil {
		s.log.Warn("a message was not delivered to a subscription", "subscription", r.subscription.ARN(),
			"endpoint", service.Shorten(r.subscription.Endpoint), "reason", r.why, "dead_letters", r.lost)
		return
	}
	s.log.Warn("a message has gone to the dead-letter queue of a subscription", "subscription", r.subscription.ARN(),
		"endpoint", service.Shorten(r.subscription.Endpoint), "reason", r.why)
}
