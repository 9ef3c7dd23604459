package sns

import (
	"context"
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/topic"
)

// Limits of an account, as on AWS.
const (
	maxTopics     = 100_000
	maxFIFOTopics = 1_000
)

const maxTopicName = 256

// topics serves the operations about topics and their attributes.
type topics struct {
	*core
	quotas *quotas
	idOf   func(arn string) (id string, ok bool) // see Options.IDOf
}

func (s *topics) register(wire *protocol.Service) {
	protocol.Register(wire, "CreateTopic", s.createTopic, protocol.Control)
	protocol.Register(wire, "DeleteTopic", s.deleteTopic, protocol.Control)
	protocol.Register(wire, "GetTopicAttributes", s.getTopicAttributes)
	protocol.Register(wire, "ListTopics", s.listTopics)
	protocol.Register(wire, "SetTopicAttributes", s.setTopicAttributes, protocol.Control)
}

type createTopicInput struct {
	Name                 *string           `max:"1024"`
	Attributes           map[string]string `max:"50,256,64K" wrap:"entry"  entry:"key,value"`
	Tags                 []service.Tag     `max:"50"         wrap:"member"`
	DataProtectionPolicy *string           `max:"64K"`
}

type topicARNOutput struct{ TopicArn string }

func (s *topics) createTopic(ctx context.Context, c *protocol.Call, in *createTopicInput) (*topicARNOutput, error) {
	var v protocol.Violations
	name := v.Required("name", in.Name)
	if err := v.Err(); err != nil {
		return nil, err
	}
	n := topic.Name{Account: service.Caller(c).Account, Region: c.Region, Topic: name}
	tags, err := checkTags(in.Tags)
	if err != nil {
		return nil, err
	}
	r := resource{n, s.topics.Find(n)}
	c.Notes.Set(noteTopic, r.ARN())
	about := r.about()
	about.NewTags = tags
	if err := s.authorize(c, about, createActions(in)...); err != nil {
		return nil, err
	}
	if err := checkTopicName(name, in.Attributes[attrFIFO]); err != nil {
		return nil, err
	}
	err = s.change(ctx, func(tx *topic.Tx) error {
		if t := s.topics.Find(n); t != nil {
			return s.sameTopic(t, in, tags)
		}
		return s.newTopic(tx, n, in, tags)
	})
	if err != nil {
		return nil, err
	}
	return &topicARNOutput{n.ARN()}, nil
}

// createActions are the actions that the creator of a topic needs permission for.
func createActions(in *createTopicInput) []string {
	if len(in.Tags) > 0 {
		return []string{"SNS:CreateTopic", "SNS:TagResource"}
	}
	return []string{"SNS:CreateTopic"}
}

// newTopic adds a topic.
func (s *topics) newTopic(tx *topic.Tx, n topic.Name, in *createTopicInput, tags map[string]string) error {
	change := s.topicChange(n, new(topic.Attributes), several)
	if err := change.setAll(in.Attributes); err != nil {
		return err
	}
	if in.DataProtectionPolicy != nil {
		if err := setDataProtection(n, change.attrs, *in.DataProtectionPolicy, s.log); err != nil {
			return err
		}
	}
	if err := s.quotas.checkTopics(n.Account); err != nil {
		return err
	}
	switch all, fifo := s.topics.Count(n.Account); {
	case all >= maxTopics:
		return errTopicLimit("The account has as many topics as it can have, %d.", maxTopics)
	case n.FIFO() && fifo >= maxFIFOTopics:
		return errTopicLimit("The account has as many FIFO topics as it can have, %d.", maxFIFOTopics)
	}
	if err := s.checkRoom(); err != nil {
		return err
	}
	_, err := tx.Create(n, *change.attrs, tags, s.now())
	return err
}

// sameTopic returns nil if an existing topic equals the request to create it.
func (s *topics) sameTopic(t *topic.Topic, in *createTopicInput, tags map[string]string) error {
	wanted := t.Attributes
	if err := s.topicChange(t.Name, &wanted, several).setAll(in.Attributes); err != nil {
		return err
	}
	have, want := s.describe(t), s.describe(&topic.Topic{Name: t.Name, Attributes: wanted})
	for name := range in.Attributes {
		if have[name] != want[name] {
			return errParameter("Attributes Reason: Topic already exists with different attributes")
		}
	}
	for key, value := range tags {
		if has, ok := t.Tags[key]; !ok || has != value {
			return errParameter("Tags Reason: Topic already exists with different tags")
		}
	}
	return nil
}

// checkTopicName refuses a name that a topic of that type cannot have. fifo is the attribute FifoTopic.
func checkTopicName(name, fifo string) error {
	base, suffixed := strings.CutSuffix(name, topic.FIFOSuffix)
	switch {
	case fifo != "" && !strings.EqualFold(fifo, "true") && !strings.EqualFold(fifo, "false"):
		return errParameter("Attributes Reason: FifoTopic: Must be true or false.")
	case strings.EqualFold(fifo, "true"):
		if !suffixed {
			return errParameter("Topic Name")
		}
		if len(name) > maxTopicName || !service.ValidName(base, maxTopicName) {
			return errParameter(
				"Fifo Topic names must end with .fifo and must be made up of only uppercase and lowercase ASCII letters, numbers, underscores, and hyphens, and must be between 1 and 256 characters long.",
			)
		}
	case !service.ValidName(name, maxTopicName):
		return errParameter("Topic Name")
	}
	return nil
}

type topicInput struct {
	TopicArn *string `max:"2048"`
}

// deleteTopic deletes a topic with its subscriptions, unless the topic has an ArchivePolicy. If the subscriptions are
// very many, it deletes them in several changes, and the topic in the last one.
func (s *topics) deleteTopic(ctx context.Context, c *protocol.Call, in *topicInput) (*service.Empty, error) {
	t, err := s.find(c, in.TopicArn, "SNS:DeleteTopic")
	switch {
	case saysGone(err):
		return nil, nil
	case err != nil:
		return nil, err
	case t.Attributes.ArchiveDays != 0:
		return nil, errArchived()
	}
	for done := false; !done; {
		if err := ctx.Err(); err != nil {
			return nil, failure(err)
		}
		done, err = control.Decide(ctx, s.change, func(tx *topic.Tx) (bool, error) { return tx.Delete(t, s.now()) })
		if err != nil {
			return nil, err
		}
	}
	return nil, nil
}

type listInput struct {
	NextToken *string `max:"2048"`
}

type listedTopic struct{ TopicArn string }

type listTopicsOutput struct {
	Topics    []listedTopic `json:",always"    wrap:"member"`
	NextToken string        `json:",omitempty"`
}

func (s *topics) listTopics(_ context.Context, c *protocol.Call, in *listInput) (*listTopicsOutput, error) {
	account := service.Caller(c).Account
	everything := service.Subject{Resource: service.ARN("arn:aws:sns:" + c.Region + ":" + account + ":*")}
	if err := s.authorize(c, everything, "SNS:ListTopics"); err != nil {
		return nil, err
	}
	read := func(after string, most int) []*topic.Topic { return s.topics.Page(account, c.Region, after, most) }
	p, err := paginate(read, func(t *topic.Topic) string { return t.Name.Topic }, in.NextToken, "topics")
	if err != nil {
		return nil, err
	}
	listed := func(t *topic.Topic) listedTopic { return listedTopic{t.Name.ARN()} }
	return &listTopicsOutput{service.Convert(p.Items, listed), p.Next}, nil
}
