package service

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// Tag is a tag as services other than SQS write it.
type Tag struct {
	Key   string `max:"128"`
	Value string `max:"256"`
}

// MaxTags is the maximum number of tags of a resource.
const MaxTags = 50

// ErrTagTwice reports that a list has two tags with the same key.
var ErrTagTwice = errors.New("two tags have the same key")

// TagMap returns tags by their keys. The only error is ErrTagTwice.
func TagMap(tags []Tag) (map[string]string, error) {
	if len(tags) == 0 {
		return nil, nil
	}
	out := make(map[string]string, len(tags))
	for _, t := range tags {
		if _, twice := out[t.Key]; twice {
			return nil, ErrTagTwice
		}
		out[t.Key] = t.Value
	}
	return out, nil
}

// TagList returns tags in the order of their keys.
func TagList(tags map[string]string) []Tag {
	return Convert(slices.Sorted(maps.Keys(tags)), func(k string) Tag { return Tag{k, tags[k]} })
}

// FoldedTagMap is TagMap for services that ignore the case of keys.
func FoldedTagMap(tags []Tag) (map[string]string, error) {
	seen := make(map[string]bool, len(tags))
	for _, t := range tags {
		folded := strings.ToLower(t.Key)
		if seen[folded] {
			return nil, ErrTagTwice
		}
		seen[folded] = true
	}
	return TagMap(tags)
}

// CheckTags refuses tags without a key, or with characters that IAM and STS do not allow.
func CheckTags(tags []Tag) error {
	var v protocol.Violations
	for i, t := range tags {
		at := fmt.Sprintf("tags.%d.member.", i+1)
		checkTagKey(&v, at+"key", t.Key)
		if !ValidTag(t.Value) {
			v.Add(t.Value, at+"value", `Member must satisfy regular expression pattern: [\p{L}\p{Z}\p{N}_.:/=+\-@]*`)
		}
	}
	return v.Err()
}

func checkTagKey(v *protocol.Violations, member, key string) {
	v.Length(member, &key, 1, 128)
	if !ValidTag(key) {
		v.Add(key, member, `Member must satisfy regular expression pattern: [\p{L}\p{Z}\p{N}_.:/=+\-@]+`)
	}
}
