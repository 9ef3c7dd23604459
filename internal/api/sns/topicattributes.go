package sns

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/topic"
)

// The attributes of topics.
const (
	attrArchive      = "ArchivePolicy"
	attrContentDedup = "ContentBasedDeduplication"
	attrDelivery     = "DeliveryPolicy"
	attrDisplayName  = "DisplayName"
	attrFIFO         = "FifoTopic"
	attrKMSKey       = "KmsMasterKeyId"
	attrMaxSize      = "MaximumMessageSize"
	attrPolicy       = "Policy"
	attrSignature    = "SignatureVersion"
	attrThroughput   = "FifoThroughputScope"
	attrTracing      = "TracingConfig"
)

const (
	maxDisplayName = 100  // characters
	maxKMSKey      = 2048 // bytes, as for queues
)

// topicChange sets attributes of a topic to a client's values.
type topicChange struct {
	name  topic.Name
	attrs *topic.Attributes
	wording
	idOf func(arn string) (id string, ok bool)
	now  time.Time
	log  *slog.Logger
}

func (s *topics) topicChange(n topic.Name, attrs *topic.Attributes, w wording) *topicChange {
	return &topicChange{name: n, attrs: attrs, wording: w, idOf: s.idOf, now: s.now(), log: s.log}
}

// setAll sets the attributes of a new topic one by one, in a fixed order.
func (c *topicChange) setAll(values map[string]string) error {
	for _, name := range sortedNames(values) {
		if name == attrFIFO { // checked with the topic's name
			continue
		}
		if err := c.set(name, values[name]); err != nil {
			return err
		}
	}
	return nil
}

func (c *topicChange) set(name, value string) error {
	a := c.attrs
	switch name {
	case attrDisplayName:
		return c.setDisplayName(value)
	case attrPolicy:
		return c.setPolicy(value)
	case attrDelivery:
		return c.setDelivery(value)
	case attrSignature:
		return c.setOne(&a.SignatureVersion, name, value, "1", "2")
	case attrTracing:
		return c.setOne(&a.Tracing, name, value, "PassThrough", "Active")
	case attrKMSKey:
		if len(value) > maxKMSKey || !service.Printable(value) {
			return c.wrong(name, "Must be at most "+strconv.Itoa(maxKMSKey)+" printable characters of ASCII.")
		}
		a.KMSKey = value
		return nil
	case attrContentDedup, attrThroughput:
		return c.setFIFOOnly(name, value)
	case attrMaxSize:
		return c.setMaxSize(value)
	case attrArchive:
		return c.setArchive(value)
	}
	if isFeedback(name) {
		return c.setFeedback(name, value)
	}
	return c.unknown(name)
}

func (c *topicChange) setDisplayName(value string) error {
	if utf8.RuneCountInString(value) > maxDisplayName || !service.ValidText(value) ||
		strings.ContainsFunc(value, unicode.IsControl) {
		return c.refuse(attrDisplayName) // AWS gives no further reason
	}
	c.attrs.DisplayName = value
	return nil
}

// setFIFOOnly sets an attribute that only FIFO topics have.
func (c *topicChange) setFIFOOnly(name, value string) error {
	fifo := c.name.FIFO()
	if name == attrThroughput {
		if !fifo {
			return c.wrong(name, "You can specify it only when FifoTopic is set to true.")
		}
		return c.setOne(&c.attrs.Throughput, name, value, topic.ThroughputTopic, topic.ThroughputGroup)
	}
	on := strings.EqualFold(value, "true")
	switch {
	case !on && !strings.EqualFold(value, "false"):
		return c.wrong(name, "Must be true or false.")
	case on && !fifo:
		return errParameter("Content-based deduplication can only be set for FIFO topics")
	}
	c.attrs.ContentDedup = on
	return nil
}

// setMaxSize sets the maximum size of messages. Whether the subscriptions of the topic allow it is checked elsewhere.
func (c *topicChange) setMaxSize(value string) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < topic.LeastMessageSize || n > topic.MostMessageSize {
		return c.wrong(
			attrMaxSize,
			fmt.Sprintf("Must be a whole number from %d to %d.", topic.LeastMessageSize, topic.MostMessageSize),
		)
	}
	c.attrs.MaxMessageSize = n
	return nil
}

func (c *topicChange) setOne(to *string, name, value string, allowed ...string) error {
	if !slices.Contains(allowed, value) {
		return c.wrong(name, "Must be one of "+strings.Join(allowed, ", ")+".")
	}
	*to = value
	return nil
}

type topicAttributesOutput struct {
	Attributes map[string]string `wrap:"entry" entry:"key,value"`
}

func (s *topics) getTopicAttributes(
	_ context.Context, c *protocol.Call, in *topicInput,
) (*topicAttributesOutput, error) {
	t, err := s.find(c, in.TopicArn, "SNS:GetTopicAttributes")
	if err != nil {
		return nil, err
	}
	return &topicAttributesOutput{s.describe(t)}, nil
}

// describe returns all attributes of a topic as clients see them.
func (s *topics) describe(t *topic.Topic) map[string]string {
	a := &t.Attributes
	out := map[string]string{
		"TopicArn": t.Name.ARN(), "Owner": t.Name.Account, attrDisplayName: a.DisplayName,
		attrPolicy:             effectivePolicy(t),
		"SubscriptionsDeleted": strconv.Itoa(t.Deleted),
	}
	confirmed, pending := 0, 0
	_, subscriptions := s.topics.Subscribed(t.Name)
	for _, sub := range subscriptions {
		if sub.Pending() {
			pending++
		} else {
			confirmed++
		}
	}
	out["SubscriptionsConfirmed"], out["SubscriptionsPending"] = strconv.Itoa(confirmed), strconv.Itoa(pending)
	maps.Copy(out, a.Feedback)
	for name, value := range map[string]string{
		attrDelivery: deliveryOf(a.Delivery), attrSignature: a.SignatureVersion, attrTracing: a.Tracing,
		attrKMSKey: a.KMSKey,
	} {
		if value != "" {
			out[name] = value
		}
	}
	if t.Name.FIFO() {
		out[attrFIFO] = "true"
		out[attrContentDedup] = strconv.FormatBool(a.ContentDedup)
		if a.Throughput != "" {
			out[attrThroughput] = a.Throughput
		}
	}
	describeArchive(out, a, s.now())
	if a.MaxMessageSize != 0 {
		out[attrMaxSize] = strconv.Itoa(a.MaxMessageSize)
	}
	out["EffectiveDeliveryPolicy"] = effectiveDelivery(a.Delivery)
	return out
}

// setAttribute is the attribute that a request sets. Without a value it is empty.
type setAttribute struct {
	AttributeName  *string `max:"256"`
	AttributeValue *string `max:"256K"`
}

func (in *setAttribute) pair() (name, value string, err error) {
	var v protocol.Violations
	name = v.Required("attributeName", in.AttributeName)
	if in.AttributeValue != nil {
		value = *in.AttributeValue
	}
	return name, value, v.Err()
}

type setTopicAttributesInput struct {
	TopicArn *string `max:"2048"`
	setAttribute
}

func (s *topics) setTopicAttributes(
	ctx context.Context, c *protocol.Call, in *setTopicAttributesInput,
) (*service.Empty, error) {
	t, err := s.find(c, in.TopicArn, "SNS:SetTopicAttributes")
	if err != nil {
		return nil, err
	}
	name, value, err := in.pair()
	if err != nil {
		return nil, err
	}
	return nil, s.updateTopic(ctx, t, func(t *topic.Topic) error {
		if err := s.topicChange(t.Name, &t.Attributes, one).set(name, value); err != nil || name != attrMaxSize {
			return err
		}
		return s.quotas.checkLarge(t)
	})
}
