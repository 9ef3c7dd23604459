package iam

import (
	"context"
	"fmt"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/control"
)

// newEntity returns the entity that a request creates, if its parameters are valid and the caller may create it.
func (s *core) newEntity(
	c *protocol.Call, kind directory.Kind, name, path, boundary *string, tags []Tag,
) (*directory.Entity, error) {
	folder, err := checkPath("path", path)
	if err != nil {
		return nil, err
	}
	e := directory.NewEntity(kind, service.Caller(c).Account, folder, orEmpty(name), s.now())
	if e.Tags, err = checkTags(tags); err != nil {
		return nil, err
	}
	if boundary != nil {
		e.Boundary = *boundary
	}
	about := subject{arn: e.ARN(), newTags: e.Tags, boundary: e.Boundary}
	if err := s.allowNew(c, words[kind], about); err != nil {
		return nil, err
	}
	if e.Boundary != "" && s.policyOf(service.Caller(c).Account, e.Boundary) == nil {
		return nil, errNoBoundary(service.Shorten(e.Boundary))
	}
	return e, nil
}

// add stores a new entity, unless its name is taken.
func (s *core) add(ctx context.Context, e *directory.Entity, quota int) error {
	return s.change(ctx, func(tx *directory.Tx) error {
		if s.directory.Find(e.Kind, e.Account, e.Name) != nil {
			return errTaken(e.Kind, e.Name)
		}
		if len(s.directory.List(e.Kind, e.Account)) >= quota {
			return errQuota(words[e.Kind]+"sPerAccount", quota)
		}
		tx.PutEntity(e)
		return nil
	})
}

// edit changes an entity that was found before. If another request has deleted it meanwhile, the error reports a
// missing entity.
func (s *core) edit(ctx context.Context, e *directory.Entity, change func(e *directory.Entity) error) error {
	_, err := s.edited(ctx, e, change)
	return err
}

// edited is edit, and returns the changed entity.
func (s *core) edited(
	ctx context.Context, e *directory.Entity, change func(e *directory.Entity) error,
) (*directory.Entity, error) {
	return control.Decide(ctx, s.change, func(tx *directory.Tx) (*directory.Entity, error) {
		now := s.directory.Entity(e.ID)
		if now == nil {
			return nil, errNoEntity(e.Kind, e.Name)
		}
		now = now.Clone()
		if err := change(now); err != nil {
			return nil, err
		}
		tx.PutEntity(now)
		return now, nil
	})
}

// rename changes the name or path of an entity, if the caller may update both the old ARN and the new one.
func (s *core) rename(
	ctx context.Context, c *protocol.Call, kind directory.Kind, name, newName, newPath *string,
) (*service.Empty, error) {
	action := "Update" + words[kind]
	e, err := s.find(c, kind, name, action)
	if err != nil {
		return nil, err
	}
	next := e.Clone()
	if newName != nil {
		next.Name = *newName
	}
	if newPath != nil {
		if next.Path, err = checkPath("newPath", newPath); err != nil {
			return nil, err
		}
	}
	if err := s.allow(c, action, subject{arn: next.ARN(), tags: e.Tags}); err != nil {
		return nil, err
	}
	return nil, s.edit(ctx, e, func(e *directory.Entity) error {
		if other := s.directory.Find(kind, e.Account, next.Name); other != nil && other.ID != e.ID {
			return errTaken(kind, next.Name)
		}
		e.Name, e.Path = next.Name, next.Path
		return nil
	})
}

// remove deletes an entity without keys, password, second factors, groups, members, policies and instance profiles.
func (s *core) remove(
	ctx context.Context, c *protocol.Call, kind directory.Kind, name *string,
) (*service.Empty, error) {
	e, err := s.find(c, kind, name, "Delete"+words[kind])
	if err != nil {
		return nil, err
	}
	return nil, s.change(ctx, func(tx *directory.Tx) error {
		now := s.directory.Entity(e.ID)
		switch {
		case now == nil:
			return errNoEntity(kind, e.Name)
		case len(s.directory.Keys(now)) > 0:
			return errConflict("delete access keys")
		case s.logins.Profile(now.ID) != nil:
			return errConflict("delete login profile")
		case len(s.logins.DevicesOf(now.Account, now.ID)) > 0:
			return errConflict("delete MFA device")
		case len(now.Roles) > 0:
			return errConflict("remove roles from instance profile")
		case kind == directory.Role && len(s.directory.ProfilesOf(now)) > 0:
			return errConflict("remove roles from instance profile")
		case len(now.Groups) > 0:
			return errConflict("remove users from group")
		case kind == directory.Group && len(s.directory.Members(now)) > 0:
			return errConflict("remove users from group")
		case len(now.Attached) > 0:
			return errConflict("detach all policies")
		case len(now.Inline) > 0:
			return errConflict("delete policies")
		}
		tx.DeleteEntity(now)
		return nil
	})
}

func (s *core) listEntities(
	c *protocol.Call, kind directory.Kind, action string, prefix, marker *string, maxItems *int32,
) (service.Page[*directory.Entity], error) {
	account := service.Caller(c).Account
	folder := "/"
	if prefix != nil {
		folder = *prefix
	}
	arn := fmt.Sprintf("arn:aws:iam::%s:%s%s", account, kind, service.Shorten(folder))
	if err := s.allow(c, action, subject{arn: arn}); err != nil {
		return service.Page[*directory.Entity]{}, err
	}
	all := service.Filter(s.directory.List(kind, account), func(e *directory.Entity) bool {
		return prefixed(e.Path, prefix)
	})
	return paginate(all, entityName, marker, maxItems)
}

func entityName(e *directory.Entity) string { return e.Name }
