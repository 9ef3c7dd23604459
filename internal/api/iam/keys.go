package iam

import (
	"context"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// keys serves the operations about access keys.
type keys struct{ *core }

func (s keys) register(wire *protocol.Service) {
	protocol.Register(wire, "CreateAccessKey", s.createAccessKey, protocol.Control)
	protocol.Register(wire, "ListAccessKeys", s.listAccessKeys)
	protocol.Register(wire, "UpdateAccessKey", s.updateAccessKey, protocol.Control)
	protocol.Register(wire, "DeleteAccessKey", s.deleteAccessKey, protocol.Control)
	protocol.Register(wire, "GetAccessKeyLastUsed", s.getAccessKeyLastUsed)
}

// AccessKey is a new access key, with its secret.
type AccessKey struct {
	UserName        string
	AccessKeyId     string
	Status          string
	SecretAccessKey string `hidden:""`
	CreateDate      time.Time
}

// AccessKeyMetadata is the visible part of an access key after its creation.
type AccessKeyMetadata struct {
	UserName    string `json:",omitempty"`
	AccessKeyId string
	Status      string
	CreateDate  *time.Time
}

const (
	statusActive   = "Active"
	statusInactive = "Inactive"
)

func status(active bool) string {
	if active {
		return statusActive
	}
	return statusInactive
}

type createAccessKeyOutput struct{ AccessKey AccessKey }

func (s keys) createAccessKey(ctx context.Context, c *protocol.Call, in *userInput) (*createAccessKeyOutput, error) {
	user, err := s.userOrCaller(c, in.UserName, "CreateAccessKey")
	if err != nil {
		return nil, err
	}
	key, secret := s.directory.NewKey(user, s.now())
	err = s.change(ctx, func(tx *directory.Tx) error {
		switch {
		case s.directory.Entity(user.ID) == nil:
			return errNoEntity(directory.User, user.Name)
		case len(s.directory.Keys(user)) >= maxKeys:
			return errQuota("AccessKeysPerUser", maxKeys)
		}
		tx.PutKey(key)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &createAccessKeyOutput{AccessKey{
		UserName: user.Name, AccessKeyId: key.ID, Status: statusActive, SecretAccessKey: secret,
		CreateDate: key.Created,
	}}, nil
}

type listAccessKeysInput struct {
	UserName *string `max:"128"`
	Marker   *string `max:"2048"`
	MaxItems *int32
}

type listAccessKeysOutput struct {
	UserName          string              `json:",omitempty"`
	AccessKeyMetadata []AccessKeyMetadata `json:",always"    wrap:"member"`
	IsTruncated       bool
	Marker            string `json:",omitempty"`
}

func (s keys) listAccessKeys(
	_ context.Context, c *protocol.Call, in *listAccessKeysInput,
) (*listAccessKeysOutput, error) {
	if id := service.Caller(c); in.UserName == nil && id.Kind == policy.Account {
		if err := s.allow(c, "ListAccessKeys", subject{arn: id.ARN}); err != nil {
			return nil, err
		}
		root, _ := s.roots.Root(id.Account)
		return &listAccessKeysOutput{
			AccessKeyMetadata: []AccessKeyMetadata{{AccessKeyId: root.AccessKeyID, Status: statusActive}},
		}, nil
	}
	user, err := s.userOrCaller(c, in.UserName, "ListAccessKeys")
	if err != nil {
		return nil, err
	}
	p, err := paginate(s.directory.Keys(user), keyOrder, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	keys := service.Convert(p.Items, func(k *directory.Key) AccessKeyMetadata {
		return AccessKeyMetadata{
			UserName: user.Name, AccessKeyId: k.ID, Status: status(k.Active), CreateDate: &k.Created,
		}
	})
	return &listAccessKeysOutput{user.Name, keys, p.Next != "", p.Next}, nil
}

// keyOrder returns the key by which access keys are sorted: oldest first.
func keyOrder(k *directory.Key) string { return k.Created.Format(time.RFC3339) + k.ID }

type accessKeyInput struct {
	UserName    *string `max:"128"`
	AccessKeyId *string `max:"128"`
	Status      *string `max:"64"`
}

// keyOf returns the user's key that a request names.
func (s keys) keyOf(user *directory.Entity, id string) (*directory.Key, error) {
	k := s.directory.Key(id)
	if k == nil || k.User != user.ID {
		return nil, errNoKey(service.Shorten(id))
	}
	return k, nil
}

func (s keys) updateAccessKey(ctx context.Context, c *protocol.Call, in *accessKeyInput) (*service.Empty, error) {
	id := orEmpty(in.AccessKeyId)
	wanted := orEmpty(in.Status)
	user, err := s.userOrCaller(c, in.UserName, "UpdateAccessKey")
	if err != nil {
		return nil, err
	}
	return nil, s.change(ctx, func(tx *directory.Tx) error {
		k, err := s.keyOf(user, id)
		if err != nil {
			return err
		}
		k = k.Clone()
		k.Active = wanted == statusActive
		tx.PutKey(k)
		return nil
	})
}

func (s keys) deleteAccessKey(ctx context.Context, c *protocol.Call, in *accessKeyInput) (*service.Empty, error) {
	id := orEmpty(in.AccessKeyId)
	user, err := s.userOrCaller(c, in.UserName, "DeleteAccessKey")
	if err != nil {
		return nil, err
	}
	return nil, s.change(ctx, func(tx *directory.Tx) error {
		k, err := s.keyOf(user, id)
		if err != nil {
			return err
		}
		tx.DeleteKey(k)
		return nil
	})
}

// AccessKeyLastUsed is the last use of a key.
type AccessKeyLastUsed struct {
	LastUsedDate *time.Time
	ServiceName  string
	Region       string
}

type lastUsedOutput struct {
	UserName          string
	AccessKeyLastUsed AccessKeyLastUsed
}

func (s keys) getAccessKeyLastUsed(_ context.Context, c *protocol.Call, in *accessKeyInput) (*lastUsedOutput, error) {
	id := orEmpty(in.AccessKeyId)
	account := service.Caller(c).Account
	about := subject{arn: "arn:aws:iam::" + account + ":user/*"} // the owner is not known yet
	var user *directory.Entity
	k := s.directory.Key(id)
	if k != nil {
		user = s.directory.Entity(k.User)
	}
	if user != nil && user.Account == account {
		about = subject{arn: user.ARN(), tags: user.Tags}
	}
	if err := s.allow(c, "GetAccessKeyLastUsed", about); err != nil {
		return nil, err
	}
	if user == nil || user.Account != account {
		return nil, errNoKey(service.Shorten(id))
	}
	out := &lastUsedOutput{UserName: user.Name, AccessKeyLastUsed: AccessKeyLastUsed{ServiceName: "N/A", Region: "N/A"}}
	if u, ok := k.LastUse(); ok {
		out.AccessKeyLastUsed = AccessKeyLastUsed{&u.At, u.Service, u.Region}
	}
	return out, nil
}
