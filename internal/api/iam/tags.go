package iam

import (
	"maps"
	"slices"
)

// showTags returns tags in the order of their keys.
func showTags(tags map[string]string) []Tag {
	return convert(slices.Sorted(maps.Keys(tags)), func(k string) Tag { return Tag{k, tags[k]} })
}
