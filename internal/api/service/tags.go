package service

import (
	"errors"
	"maps"
	"slices"
)

// Tag is a tag as services other than SQS write it.
type Tag struct {
	Key   string `max:"128"`
	Value string `max:"256"`
}

// MaxTags is how many tags a resource can have.
const MaxTags = 50

// ErrTagTwice says that a list has two tags with the same key.
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
