package sqs

import (
	"context"
	"errors"
	"strings"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/control"
)

// The records of queues are in the catalog. The engines of the queues learn of a change before the client is answered.
// If the disk blocks meanwhile, the client gets an error and waits no longer, but the change may still complete.

// createRecord creates a queue and returns its record. If there is one with its name, createRecord checks that it
// equals the request, and returns nil. The queue exists from the catalog's commit on, whether or not the client still
// waits.
func (s *Service) createRecord(ctx context.Context, n catalog.Name, in *createQueueInput) (*catalog.Queue, error) {
	created, err := control.Decide(ctx, s.catalog.Change, func(tx *catalog.Tx) (*catalog.Queue, error) {
		if q := s.catalog.Find(n); q != nil {
			return nil, s.sameQueue(q, in)
		}
		return s.newQueue(tx, n, in)
	})
	return created, failure(err, nil)
}

// newQueue adds a queue to the catalog.
func (s *Service) newQueue(tx *catalog.Tx, n catalog.Name, in *createQueueInput) (*catalog.Queue, error) {
	attrs := s.newAttributes(strings.EqualFold(in.Attributes[attrFIFO], "true"))
	if err := s.change(n, &attrs, in.Attributes).apply(); err != nil {
		return nil, err
	}
	if err := s.checkQueues(n.Account); err != nil {
		return nil, err
	}
	if err := s.checkRoom(); err != nil {
		return nil, err
	}
	q, err := tx.Create(n, attrs, in.Tags, s.now())
	if errors.Is(err, catalog.ErrDeletedRecently) {
		return nil, errDeletedRecently()
	}
	return q, err
}

// deleteRecord deletes a queue. Its messages are removed when the deletion can no longer be undone. If the server dies
// before they are removed, they are removed at the next start.
func (s *Service) deleteRecord(ctx context.Context, q *catalog.Queue) error {
	err := s.catalog.Change(ctx, func(tx *catalog.Tx) error { return tx.Delete(q.Name, q.ID, s.now()) })
	return failure(err, q)
}

// updateRecord changes the record of a queue and returns the new one.
func (s *Service) updateRecord(
	ctx context.Context, q *catalog.Queue, change func(*catalog.Queue) error,
) (*catalog.Queue, error) {
	updated, err := control.Decide(ctx, s.catalog.Change, func(tx *catalog.Tx) (*catalog.Queue, error) {
		return tx.Update(q.Name, q.ID, change)
	})
	return updated, failure(err, q)
}

// updateAttributes changes the attributes of a queue, which counts as a modification of the queue.
func (s *Service) updateAttributes(ctx context.Context, q *catalog.Queue, change func(*catalog.Queue) error) error {
	_, err := s.updateRecord(ctx, q, func(q *catalog.Queue) error {
		q.Modified = s.now()
		return change(q)
	})
	return err
}
