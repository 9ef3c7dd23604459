package iam

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// Tag is a tag of a user, role or policy.
type Tag = service.Tag

// checkTags returns the tags of a request by their keys.
func checkTags(tags []Tag) (map[string]string, error) {
	out, err := service.FoldedTagMap(tags)
	if err != nil {
		return nil, errInput("Duplicate tag keys found. Please note that Tag keys are case insensitive.")
	}
	return out, checkTagKeys(maps.Keys(out))
}

// checkTagKeys refuses the keys of tags that only AWS sets.
func checkTagKeys(keys iter.Seq[string]) error {
	for key := range keys {
		if strings.HasPrefix(strings.ToLower(key), "aws:") {
			return errInput("Caller is an end user and not allowed to mutate system tags")
		}
	}
	return nil
}

// taggedKinds are the kinds with tags. Groups have none.
var taggedKinds = boundKinds

// tagged serves the operations about the tags of users and roles.
type tagged struct{ *core }

func (s tagged) register(wire *protocol.Service) {
	each(wire, "Tag", "", s.tagEntity, taggedKinds, protocol.Control)
	each(wire, "Untag", "", s.untagEntity, taggedKinds, protocol.Control)
	each(wire, "List", "Tags", s.listEntityTags, taggedKinds)
}

// tagsInput names a user, a role or a policy.
type tagsInput struct {
	UserName  *string  `max:"128"`
	RoleName  *string  `max:"64"`
	PolicyArn *string  `max:"2048"`
	Tags      []Tag    `max:"50"     wrap:"member"`
	TagKeys   []string `max:"50,128" wrap:"member"`
	Marker    *string  `max:"2048"`
	MaxItems  *int32
}

func (in *tagsInput) name(k directory.Kind) *string { return pick(k, in.UserName, nil, in.RoleName) }

// added returns the tags that a request adds; at least one is required.
func (in *tagsInput) added() (map[string]string, error) {
	if len(in.Tags) == 0 {
		return nil, errNoList("tags")
	}
	return checkTags(in.Tags)
}

// removed returns the keys of the tags that a request removes; at least one is required.
func (in *tagsInput) removed() ([]string, error) {
	if len(in.TagKeys) == 0 {
		return nil, errNoList("tagKeys")
	}
	return in.TagKeys, checkTagKeys(slices.Values(in.TagKeys))
}

func errNoList(member string) error {
	var v protocol.Violations
	v.Required(member, nil)
	return v.Err()
}

// addTags returns old and the added tags together, unless they are too many.
func addTags(old, added map[string]string) (map[string]string, error) {
	all := maps.Clone(old)
	if all == nil {
		all = make(map[string]string)
	}
	for key, value := range added {
		removeTag(all, key)
		all[key] = value
	}
	if len(all) > service.MaxTags {
		return nil, errQuota("TagsPerEntity", service.MaxTags)
	}
	return all, nil
}

// removeTags returns old without the tags with these keys. It ignores missing keys, as on AWS.
func removeTags(old map[string]string, keys []string) map[string]string {
	all := maps.Clone(old)
	for _, key := range keys {
		removeTag(all, key)
	}
	return all
}

// removeTag removes the tag with a key. It ignores the case of the key.
func removeTag(tags map[string]string, key string) {
	maps.DeleteFunc(tags, func(other, _ string) bool { return strings.EqualFold(other, key) })
}

func (s tagged) tagEntity(
	ctx context.Context, k directory.Kind, action string, c *protocol.Call, in *tagsInput,
) (*service.Empty, error) {
	added, err := in.added()
	if err != nil {
		return nil, err
	}
	e, err := s.findFor(c, k, in.name(k), action, subject{newTags: added})
	if err != nil {
		return nil, err
	}
	return nil, s.edit(ctx, e, func(e *directory.Entity) (err error) {
		e.Tags, err = addTags(e.Tags, added)
		return err
	})
}

func (s tagged) untagEntity(
	ctx context.Context, k directory.Kind, action string, c *protocol.Call, in *tagsInput,
) (*service.Empty, error) {
	removed, err := in.removed()
	if err != nil {
		return nil, err
	}
	e, err := s.findFor(c, k, in.name(k), action, subject{tagKeys: removed})
	if err != nil {
		return nil, err
	}
	return nil, s.edit(ctx, e, func(e *directory.Entity) error {
		e.Tags = removeTags(e.Tags, removed)
		return nil
	})
}

type listTagsOutput struct {
	Tags        []Tag `json:",always"    wrap:"member"`
	IsTruncated bool
	Marker      string `json:",omitempty"`
}

func (s tagged) listEntityTags(
	_ context.Context,
	k directory.Kind,
	action string,
	c *protocol.Call,
	in *tagsInput,
) (*listTagsOutput, error) {
	e, err := s.find(c, k, in.name(k), action)
	if err != nil {
		return nil, err
	}
	return in.page(e.Tags)
}

// page returns the requested page of tags.
func (in *tagsInput) page(tags map[string]string) (*listTagsOutput, error) {
	p, err := paginate(service.TagList(tags), func(t Tag) string { return t.Key }, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	return &listTagsOutput{p.Items, p.Next != "", p.Next}, nil
}

func (s policies) tagPolicy(ctx context.Context, c *protocol.Call, in *tagsInput) (*service.Empty, error) {
	added, err := in.added()
	if err != nil {
		return nil, err
	}
	m, err := s.managedFor(c, in.PolicyArn, "TagPolicy", subject{newTags: added})
	if err != nil {
		return nil, err
	}
	return nil, s.editPolicy(ctx, m, func(tx *directory.Tx, m *directory.Managed) (err error) {
		if m.Tags, err = addTags(m.Tags, added); err == nil {
			tx.PutPolicy(m)
		}
		return err
	})
}

func (s policies) untagPolicy(ctx context.Context, c *protocol.Call, in *tagsInput) (*service.Empty, error) {
	removed, err := in.removed()
	if err != nil {
		return nil, err
	}
	m, err := s.managedFor(c, in.PolicyArn, "UntagPolicy", subject{tagKeys: removed})
	if err != nil {
		return nil, err
	}
	return nil, s.editPolicy(ctx, m, func(tx *directory.Tx, m *directory.Managed) error {
		m.Tags = removeTags(m.Tags, removed)
		tx.PutPolicy(m)
		return nil
	})
}

func (s policies) listPolicyTags(_ context.Context, c *protocol.Call, in *tagsInput) (*listTagsOutput, error) {
	m, err := s.managed(c, in.PolicyArn, "ListPolicyTags")
	if err != nil {
		return nil, err
	}
	return in.page(m.Tags)
}
