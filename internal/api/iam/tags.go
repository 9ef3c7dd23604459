package iam

import (
	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// Tag is a tag of a user, role or policy.
type Tag = service.Tag

// checkTags returns the tags of a request by their keys.
func checkTags(tags []Tag) (map[string]string, error) {
	var v protocol.Violations
	for _, t := range tags {
		v.Length("tags.member.key", &t.Key, 1, 128)
	}
	if err := v.Err(); err != nil {
		return nil, err
	}
	out, err := service.TagMap(tags)
	if err != nil {
		return nil, errInput("Duplicate tag keys found. Please note that Tag keys are case insensitive.")
	}
	return out, nil
}
