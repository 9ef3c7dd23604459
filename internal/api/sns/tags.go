package sns

import (
	"context"
	"maps"
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/topic"
)

// tagged serves the operations about the tags of topics.
type tagged struct{ *core }

func (s tagged) register(wire *protocol.Service) {
	protocol.Register(wire, "ListTagsForResource", s.listTagsForResource)
	protocol.Register(wire, "TagResource", s.tagResource, protocol.Control, protocol.EmptyResult)
	protocol.Register(wire, "UntagResource", s.untagResource, protocol.Control, protocol.EmptyResult)
}

// maxTaggedARN is how long the ARNs of these operations are, in AWS's model.
const maxTaggedARN = 1011

// checkTags returns the tags of a request by their keys.
func checkTags(tags []service.Tag) (map[string]string, error) {
	for _, t := range tags {
		if err := checkTagKey(t.Key); err != nil {
			return nil, err
		}
		if !service.ValidTag(t.Value) {
			return nil, errParameter(
				"Tags Reason: Tag values may only contain unicode letters, digits, whitespace, or one of these symbols: _ . : / = + - @",
			)
		}
	}
	out, err := service.TagMap(tags)
	if err != nil {
		return nil, errParameter("Duplicated keys are not allowed.")
	}
	return out, nil
}

func checkTagKey(key string) error {
	switch {
	case !service.ValidTag(key):
		return errParameter(
			"Tags Reason: Tag keys may only contain unicode letters, digits, whitespace, or one of these symbols: _ . : / = + - @",
		)
	case len(key) >= 4 && strings.EqualFold(key[:4], "aws:"):
		return errParameter("Tags Reason: Tag keys beginning with aws: are reserved for system use.")
	}
	return nil
}

// tagged returns the topic whose tags a request reads or changes.
func (s tagged) tagged(c *protocol.Call, arn *string, action string, add func(*service.Subject)) (*topic.Topic, error) {
	n, err := topicNamed(c, "ResourceArn", arn)
	if err != nil {
		return nil, err
	}
	t, err := s.findNamed(c, n, action, add)
	if saysGone(err) {
		return nil, errNoResource()
	}
	return t, err
}

type tagResourceInput struct {
	ResourceArn *string       `max:"1011"`
	Tags        []service.Tag `max:"50"   wrap:"member"`
}

func (s tagged) tagResource(ctx context.Context, c *protocol.Call, in *tagResourceInput) (*service.Empty, error) {
	added, err := checkTags(in.Tags)
	if err != nil {
		return nil, err
	}
	t, err := s.tagged(c, in.ResourceArn, "SNS:TagResource", func(about *service.Subject) { about.NewTags = added })
	if err != nil {
		return nil, err
	}
	var v protocol.Violations
	if requireList(&v, "tags", len(added)); v.Err() != nil {
		return nil, v.Err()
	}
	return nil, s.retag(ctx, t, func(tags map[string]string) { maps.Copy(tags, added) })
}

type untagResourceInput struct {
	ResourceArn *string  `max:"1011"`
	TagKeys     []string `max:"50,128" wrap:"member"`
}

func (s tagged) untagResource(ctx context.Context, c *protocol.Call, in *untagResourceInput) (*service.Empty, error) {
	for _, key := range in.TagKeys {
		if err := checkTagKey(key); err != nil {
			return nil, err
		}
	}
	t, err := s.tagged(c, in.ResourceArn, "SNS:UntagResource", func(about *service.Subject) { about.TagKeys = in.TagKeys })
	if err != nil {
		return nil, err
	}
	var v protocol.Violations
	if requireList(&v, "tagKeys", len(in.TagKeys)); v.Err() != nil {
		return nil, v.Err()
	}
	return nil, s.retag(ctx, t, func(tags map[string]string) {
		for _, key := range in.TagKeys {
			delete(tags, key)
		}
	})
}

// retag changes the tags of a topic.
func (s tagged) retag(ctx context.Context, t *topic.Topic, change func(tags map[string]string)) error {
	err := s.updateTopic(ctx, t, func(t *topic.Topic) error {
		if t.Tags == nil {
			t.Tags = make(map[string]string)
		}
		if change(t.Tags); len(t.Tags) > service.MaxTags {
			return errTagLimit()
		}
		return nil
	})
	if saysGone(err) {
		return errNoResource()
	}
	return err
}

type listTagsInput struct {
	ResourceArn *string `max:"1011"`
}

type listTagsOutput struct {
	Tags []service.Tag `json:",always" wrap:"member"`
}

func (s tagged) listTagsForResource(_ context.Context, c *protocol.Call, in *listTagsInput) (*listTagsOutput, error) {
	t, err := s.tagged(c, in.ResourceArn, "SNS:ListTagsForResource", func(*service.Subject) {})
	if err != nil {
		return nil, err
	}
	return &listTagsOutput{service.TagList(t.Tags)}, nil
}
