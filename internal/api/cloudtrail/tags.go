package cloudtrail

import (
	"context"
	"errors"
	"maps"
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails"
)

type tagsInput struct {
	ResourceId *string       `max:"300"`
	TagsList   []service.Tag `max:"200"`
}

// checkTags returns the tags of a request by their keys.
func checkTags(tags []service.Tag) (map[string]string, error) {
	for _, t := range tags {
		switch {
		case t.Key == "":
			return nil, refusal("InvalidTagParameterException", "A tag key has 1 to 128 characters.")
		case !service.ValidTag(t.Key) || !service.ValidTag(t.Value):
			return nil, refusal(
				"InvalidTagParameterException",
				"Tag keys and values have letters, digits, spaces and _ . : / = + - @ only.",
			)
		case strings.HasPrefix(strings.ToLower(t.Key), "aws:"):
			return nil, refusal("InvalidTagParameterException", "Tag keys that begin with aws: belong to AWS.")
		}
	}
	out, err := service.TagMap(tags)
	if err != nil {
		return nil, refusal("InvalidTagParameterException", "Two tags have the same key.")
	}
	if len(out) > service.MaxTags {
		return nil, errTooManyTags()
	}
	return out, nil
}

func errTooManyTags() error {
	return refusal("TagsLimitExceededException", "A trail can have at most %d tags.", service.MaxTags)
}

// findTagged returns the trail whose tags a request is about, which it names by the ARN.
func (s *Service) findTagged(
	c *protocol.Call, action string, arn *string, about service.Subject,
) (*trails.Trail, error) {
	if arn == nil {
		arn = new(string)
	}
	n, err := parseARN(*arn)
	if err != nil {
		return nil, err
	}
	switch account := service.Caller(c).Account; {
	case n.Account != account:
		return nil, refusal("CloudTrailARNInvalidException",
			"AccountID in ARN is wrong, you can only access resources with AccountID %s.", account)
	case n.Region != c.Region:
		return nil, refusal("CloudTrailARNInvalidException",
			"Region in ARN is wrong, you can only access resources in region %s.", c.Region)
	}
	t, err := s.allow(c, action, n, about)
	if e, ok := errors.AsType[*protocol.Error](err); ok && e.Type == "TrailNotFoundException" {
		return nil, refusal("ResourceNotFoundException", "The trail %s does not exist.", n.ARN())
	}
	return t, err
}

func (s *Service) addTags(ctx context.Context, c *protocol.Call, in *tagsInput) (*service.Empty, error) {
	added, err := checkTags(in.TagsList)
	if err != nil {
		return nil, err
	}
	if len(added) == 0 {
		return nil, refusal("InvalidTagParameterException", "The request needs TagsList with at least one tag.")
	}
	t, err := s.findTagged(c, "AddTags", in.ResourceId, service.Subject{NewTags: added})
	if err != nil {
		return nil, err
	}
	if err := s.room(); err != nil {
		return nil, service.NoRoom(err)
	}
	_, err = s.edit(ctx, t.Name, func(t *trails.Trail) error {
		if t.Tags == nil {
			t.Tags = make(map[string]string)
		}
		maps.Copy(t.Tags, added)
		if len(t.Tags) > service.MaxTags {
			return errTooManyTags()
		}
		return nil
	})
	return nil, err
}

func (s *Service) removeTags(ctx context.Context, c *protocol.Call, in *tagsInput) (*service.Empty, error) {
	if len(in.TagsList) == 0 {
		return nil, refusal("InvalidTagParameterException", "The request needs TagsList with at least one tag.")
	}
	keys := service.Convert(in.TagsList, func(t service.Tag) string { return t.Key })
	t, err := s.findTagged(c, "RemoveTags", in.ResourceId, service.Subject{TagKeys: keys})
	if err != nil {
		return nil, err
	}
	_, err = s.edit(ctx, t.Name, func(t *trails.Trail) error {
		for _, key := range keys {
			delete(t.Tags, key)
		}
		return nil
	})
	return nil, err
}

type listTagsInput struct {
	NextToken      *string  `max:"1024"`
	ResourceIdList []string `max:"20,300"`
}

type resourceTag struct {
	ResourceId string
	TagsList   []service.Tag `json:",always"`
}

type listTagsOutput struct {
	ResourceTagList []resourceTag `json:",always"`
}

// listTags answers on one page: there are at most twenty trails with fifty tags each.
func (s *Service) listTags(_ context.Context, c *protocol.Call, in *listTagsInput) (*listTagsOutput, error) {
	if in.NextToken != nil {
		return nil, refusal("InvalidTokenException", "The token of the page cannot be read: there is only one page.")
	}
	out := new(listTagsOutput)
	for _, arn := range in.ResourceIdList {
		t, err := s.findTagged(c, "ListTags", &arn, service.Subject{})
		if err != nil {
			return nil, err
		}
		out.ResourceTagList = append(out.ResourceTagList, resourceTag{arn, service.TagList(t.Tags)})
	}
	return out, nil
}

func errToken() error {
	return refusal("InvalidNextTokenException", "The token of the page cannot be read: it is not one that this operation has returned.")
}
