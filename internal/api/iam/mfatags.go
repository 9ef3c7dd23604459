package iam

import (
	"context"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/login"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// deviceTagsInput names a second factor.
type deviceTagsInput struct {
	SerialNumber *string  `max:"256"`
	Tags         []Tag    `max:"50"     wrap:"member"`
	TagKeys      []string `max:"50,128" wrap:"member"`
	Marker       *string  `max:"2048"`
	MaxItems     *int32
}

func (in *deviceTagsInput) tags() *tagsInput {
	return &tagsInput{Tags: in.Tags, TagKeys: in.TagKeys, Marker: in.Marker, MaxItems: in.MaxItems}
}

// device returns the second factor that a request names, if the caller may take the action on it.
func (s devices) device(c *protocol.Call, number *string, about subject) (*login.Device, error) {
	serial := orEmpty(number)
	d := s.logins.Device(service.Caller(c).Account, serial)
	about.arn = service.Shorten(serial)
	if d != nil {
		about.tags = d.Tags
	}
	if err := s.allow(c, c.Operation, about); err != nil {
		return nil, err
	}
	if d == nil {
		return nil, errNoDevice(serial)
	}
	return d, nil
}

// retag changes the tags of the second factor that a request names.
func (s devices) retag(
	ctx context.Context, c *protocol.Call, in *deviceTagsInput, about subject,
	change func(old map[string]string) (map[string]string, error),
) (*service.Empty, error) {
	d, err := s.device(c, in.SerialNumber, about)
	if err != nil {
		return nil, err
	}
	return nil, s.changeLogins(ctx, func(tx *login.Tx) error {
		now := s.logins.Device(d.Account, d.Serial())
		if now == nil {
			return errNoDevice(d.Serial())
		}
		tags, err := change(now.Tags)
		if err == nil {
			tx.PutDevice(now.Tagged(tags))
		}
		return err
	})
}

func (s devices) tagMFADevice(ctx context.Context, c *protocol.Call, in *deviceTagsInput) (*service.Empty, error) {
	added, err := in.tags().added()
	if err != nil {
		return nil, err
	}
	return s.retag(ctx, c, in, subject{newTags: added}, func(old map[string]string) (map[string]string, error) {
		return addTags(old, added)
	})
}

func (s devices) untagMFADevice(ctx context.Context, c *protocol.Call, in *deviceTagsInput) (*service.Empty, error) {
	removed, err := in.tags().removed()
	if err != nil {
		return nil, err
	}
	return s.retag(ctx, c, in, subject{tagKeys: removed}, func(old map[string]string) (map[string]string, error) {
		return removeTags(old, removed), nil
	})
}

func (s devices) listMFADeviceTags(_ context.Context, c *protocol.Call, in *deviceTagsInput) (*listTagsOutput, error) {
	d, err := s.device(c, in.SerialNumber, subject{})
	if err != nil {
		return nil, err
	}
	return in.tags().page(d.Tags)
}
