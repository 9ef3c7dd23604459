package idle

import (
	"context"
	"errors"
	"time"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trail"
)

// errOvertaken reports that a queue has changed since the decision about it.
var errOvertaken = errors.New("the queue has changed meanwhile")

// The names of the events in the trail.
const (
	eventAnnounced = "AnnounceIdleQueueDeletion"
	eventRevoked   = "RevokeIdleQueueDeletion"
	eventDeleted   = "DeleteIdleQueue"
)

// announce announces the deletion of a queue, again if the last announcement is old.
func (s *Sweeper) announce(ctx context.Context, q *catalog.Queue, used, now time.Time) error {
	idle := &catalog.Idle{Used: used, Announced: now, Due: latest(used.Add(s.o.After), now.Add(Notice(s.o.After)))}
	err := s.change(ctx, q, eventAnnounced, idle, func(q *catalog.Queue) error {
		if q.Idle != nil && !now.After(q.Idle.Due.Add(dueFor)) || s.kept()(q) || s.known(q).After(used) {
			return errOvertaken
		}
		q.Idle = idle
		return nil
	})
	if err == nil {
		s.o.Log.Warn(
			"an unused queue will be deleted", "queue", q.Name.ARN(), "unused_since", used.UTC(), "not_before",
			idle.Due.UTC(),
		)
	}
	return unlessOvertaken(err)
}

// revoke revokes an announcement, and opens the queue if it is sealed.
func (s *Sweeper) revoke(ctx context.Context, q *catalog.Queue) error {
	err := s.change(ctx, q, eventRevoked, q.Idle, func(q *catalog.Queue) error {
		if q.Idle == nil {
			return errOvertaken
		}
		q.Idle = nil
		return nil
	})
	if err == nil {
		s.o.Log.Info("a queue that was to be deleted stays: it is used, or has to be kept", "queue", q.Name.ARN())
	}
	return unlessOvertaken(err)
}

// seal makes all shards refuse calls to a queue. It returns the queue's record, or nil if the queue was not sealed.
func (s *Sweeper) seal(ctx context.Context, q *catalog.Queue) (*catalog.Queue, error) {
	return s.setSealed(ctx, q, true)
}

// open undoes seal.
func (s *Sweeper) open(ctx context.Context, q *catalog.Queue) error {
	_, err := s.setSealed(ctx, q, false)
	return err
}

func (s *Sweeper) setSealed(ctx context.Context, q *catalog.Queue, sealed bool) (*catalog.Queue, error) {
	is, err := control.Decide(ctx, s.o.Catalog.Change, func(tx *catalog.Tx) (*catalog.Queue, error) {
		return tx.Update(q.Name, q.ID, func(q *catalog.Queue) error {
			if q.Idle == nil {
				return errOvertaken
			}
			q.Idle.Sealed = sealed
			return nil
		})
	})
	return is, unlessOvertaken(err)
}

// delete deletes a sealed queue after all shards have reported that it is empty and unused.
func (s *Sweeper) delete(ctx context.Context, q *catalog.Queue, now time.Time) error {
	with := s.o.Trail.BeginService(s.event(q, eventDeleted, q.Idle, now)).Changes(ctx)
	err := s.o.Catalog.Change(with, func(tx *catalog.Tx) error {
		is := s.o.Catalog.Find(q.Name)
		if is == nil || is.ID != q.ID || is.Idle == nil || !is.Idle.Sealed || s.kept()(is) ||
			now.Before(s.known(is).Add(s.o.After)) {
			return errOvertaken
		}
		return tx.Delete(q.Name, q.ID, now)
	})
	if err == nil {
		s.deleted.Add(1)
		s.o.Log.Warn(
			"an unused queue was deleted",
			"queue",
			q.Name.ARN(),
			"unused_since",
			q.Idle.Used.UTC(),
			"announced",
			q.Idle.Announced.UTC(),
		)
	}
	return unlessOvertaken(err)
}

// change changes the record of a queue, with an event in the same commit.
func (s *Sweeper) change(
	ctx context.Context, q *catalog.Queue, event string, idle *catalog.Idle, f func(*catalog.Queue) error,
) error {
	ctx = s.o.Trail.BeginService(s.event(q, event, idle, s.o.Now())).Changes(ctx)
	return s.o.Catalog.Change(ctx, func(tx *catalog.Tx) error {
		_, err := tx.Update(q.Name, q.ID, f)
		return err
	})
}

// event is what the trail says of it.
func (s *Sweeper) event(q *catalog.Queue, name string, idle *catalog.Idle, now time.Time) *trail.ServiceEvent {
	stamp := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	return &trail.ServiceEvent{
		Account: q.Name.Account, Region: q.Name.Region, Service: "sqs", Name: name, Resource: q.Name.ARN(), At: now,
		Details: map[string]string{
			"queueArn": q.Name.ARN(), "unusedSince": stamp(idle.Used), "announced": stamp(idle.Announced),
			"deletedNotBefore": stamp(idle.Due),
		},
	}
}

// unlessOvertaken returns nil if the next look will decide again.
func unlessOvertaken(err error) error {
	if errors.Is(err, errOvertaken) || errors.Is(err, catalog.ErrNotFound) {
		return nil
	}
	return err
}
