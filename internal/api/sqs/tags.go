package sqs

import (
	"context"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
)

const (
	maxTags     = 50
	maxTagKey   = 128 // characters
	maxTagValue = 256
)

// tagging is a request's change of tags. Conditions of policies can test it.
type tagging struct {
	set    map[string]string
	remove []string
}

// fault returns why the tags are invalid for a queue called name, or nil. It depends only on the request, and is called
// before policies compare the tags.
func (t *tagging) fault(name string) error {
	if err := checkTags(t.set); err != nil {
		return err
	}
	if len(t.set) > maxTags {
		return errTooManyTags(name)
	}
	for _, key := range t.remove {
		if err := checkTagKey(key); err != nil {
			return err
		}
	}
	return nil
}

func errTooManyTags(name string) *protocol.Error {
	return protocol.InvalidParameterValue("Too many tags added for queue %s.", name)
}

func errTagKeyLength() *protocol.Error {
	return protocol.InvalidParameterValue("Tag keys must be between 1 and 128 characters in length.")
}

func errTagValueLength() *protocol.Error {
	return protocol.InvalidParameterValue("Tag values may not exceed 256 characters in length.")
}

// checkTags refuses invalid tags.
func checkTags(tags map[string]string) error {
	if len(tags) == 0 { // all calls on messages: sorting an empty map would cost three allocations
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if err := checkTagKey(key); err != nil {
			return err
		}
		if err := checkReserved(key); err != nil {
			return err
		}
		switch value := tags[key]; {
		case utf8.RuneCountInString(value) > maxTagValue:
			return errTagValueLength()
		case !service.ValidTag(value):
			return protocol.InvalidParameterValue(
				"Tag values may only contain unicode letters, digits, whitespace, or one of these symbols: _ . : / = + - @",
			)
		}
	}
	for _, key := range catalog.Settings {
		if value, set := tags[key]; set {
			if err := checkSetting(key, value); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkTagKey(key string) error {
	switch n := utf8.RuneCountInString(key); {
	case n < 1 || n > maxTagKey:
		return errTagKeyLength()
	case !service.ValidTag(key):
		return protocol.InvalidParameterValue(
			"Tag keys may only contain unicode letters, digits, whitespace, or one of these symbols: _ . : / = + - @",
		)
	case hasPrefixFold(key, "aws:"):
		return protocol.InvalidParameterValue("Tag keys beginning with aws: are reserved for system use.")
	}
	return nil
}

// hasPrefixFold reports whether s begins with prefix, which is ASCII, in any case.
func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

type tagQueueInput struct {
	QueueUrl string            `max:"2048"`
	Tags     map[string]string `max:"200,512,1024" query:"Tag,Tags" entry:"Key,Value"`
}

func (s *Service) tagQueue(ctx context.Context, c *protocol.Call, in *tagQueueInput) (*service.Empty, error) {
	q, err := s.queueForTags(c, in.QueueUrl, tagging{set: in.Tags}, "sqs:TagQueue")
	if err != nil {
		return nil, err
	}
	if len(in.Tags) == 0 {
		return nil, protocol.MissingParameter("Tags")
	}
	q, err = s.retag(ctx, q, func(tags map[string]string) error {
		maps.Copy(tags, in.Tags)
		if len(tags) > maxTags {
			return errTooManyTags(q.Name.Queue)
		}
		return nil
	})
	if _, set := in.Tags[catalog.TagShards]; err == nil && set {
		s.records.reportSpread(q, false)
	}
	return nil, err
}

type untagQueueInput struct {
	QueueUrl string   `max:"2048"`
	TagKeys  []string `max:"200,512" query:"TagKey"`
}

func (s *Service) untagQueue(ctx context.Context, c *protocol.Call, in *untagQueueInput) (*service.Empty, error) {
	q, err := s.queueForTags(c, in.QueueUrl, tagging{remove: in.TagKeys}, "sqs:UntagQueue")
	if err != nil {
		return nil, err
	}
	if len(in.TagKeys) == 0 {
		return nil, errTagKeyLength()
	}
	_, err = s.retag(ctx, q, func(tags map[string]string) error {
		for _, key := range in.TagKeys {
			delete(tags, key)
		}
		return nil
	})
	return nil, err
}

// retag changes a queue's tags and returns its new record. Tags are not attributes: the queue does not count as
// modified, and the engine uses only the limits among the tags.
func (s *Service) retag(
	ctx context.Context, q *catalog.Queue, change func(tags map[string]string) error,
) (*catalog.Queue, error) {
	return s.records.update(ctx, q, func(q *catalog.Queue) error {
		if q.Tags == nil {
			q.Tags = make(map[string]string)
		}
		return change(q.Tags)
	})
}

type listQueueTagsOutput struct {
	Tags map[string]string `query:"Tag" entry:"Key,Value"`
}

func (s *Service) listQueueTags(_ context.Context, c *protocol.Call, in *queueInput) (*listQueueTagsOutput, error) {
	q, err := s.queue(c, in.QueueUrl, "sqs:ListQueueTags")
	if err != nil {
		return nil, err
	}
	return &listQueueTagsOutput{Tags: q.Tags}, nil
}
