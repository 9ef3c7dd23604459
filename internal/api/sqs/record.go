package sqs

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/tenant"
)

// The records of queues are in the catalog. The engines of the queues learn of a change before the client is answered.
// If the disk blocks meanwhile, the client gets an error and waits no longer, but the change may still complete.

// records creates, changes and deletes the records of queues.
type records struct {
	catalog        *catalog.Catalog
	tenants        *tenant.Tenants
	room           room
	now            func() time.Time
	idOf           func(arn string) (id string, ok bool) // see Options.IDOf
	maxMessageSize int                                   // of a queue that does not set it
	maxQueues      int                                   // see Options.MaxQueues
	log            *slog.Logger
}

// create creates a queue and returns its record. If a queue with its name exists, create checks that it equals the
// request, and returns nil. The queue exists from the catalog's commit on, whether or not the client still waits.
func (r *records) create(ctx context.Context, n catalog.Name, in *createQueueInput) (*catalog.Queue, error) {
	created, err := control.Decide(ctx, r.catalog.Change, func(tx *catalog.Tx) (*catalog.Queue, error) {
		if q := r.catalog.Find(n); q != nil {
			return nil, r.checkSame(q, in)
		}
		return r.add(tx, n, in)
	})
	return created, failure(err, nil)
}

// add adds a queue to the catalog.
func (r *records) add(tx *catalog.Tx, n catalog.Name, in *createQueueInput) (*catalog.Queue, error) {
	attrs := r.defaults(strings.EqualFold(in.Attributes[attrFIFO], "true"))
	if err := r.change(n, &attrs, in.Attributes).apply(); err != nil {
		return nil, err
	}
	if err := r.checkCount(n.Account); err != nil {
		return nil, err
	}
	if err := r.room.check(); err != nil {
		return nil, err
	}
	q, err := tx.Create(n, attrs, in.Tags, r.now())
	if errors.Is(err, catalog.ErrDeletedRecently) {
		return nil, errDeletedRecently()
	}
	return q, err
}

// remove deletes a queue. Its messages are removed when the deletion can no longer be undone. If the server dies before
// they are removed, they are removed at the next start.
func (r *records) remove(ctx context.Context, q *catalog.Queue) error {
	err := r.catalog.Change(ctx, func(tx *catalog.Tx) error { return tx.Delete(q.Name, q.ID, r.now()) })
	return failure(err, q)
}

// update changes the record of a queue and returns the new one.
func (r *records) update(
	ctx context.Context, q *catalog.Queue, change func(*catalog.Queue) error,
) (*catalog.Queue, error) {
	updated, err := control.Decide(ctx, r.catalog.Change, func(tx *catalog.Tx) (*catalog.Queue, error) {
		return tx.Update(q.Name, q.ID, change)
	})
	return updated, failure(err, q)
}

// updateAttributes changes the attributes of a queue, which counts as a modification of the queue.
func (r *records) updateAttributes(ctx context.Context, q *catalog.Queue, change func(*catalog.Queue) error) error {
	_, err := r.update(ctx, q, func(q *catalog.Queue) error {
		q.Modified = r.now()
		return change(q)
	})
	return err
}

// checkSame returns nil if an existing queue equals the request to create it.
func (r *records) checkSame(q *catalog.Queue, in *createQueueInput) error {
	wanted := q.Attributes
	if err := r.change(q.Name, &wanted, in.Attributes).setAll(); err != nil {
		return err
	}
	have, want := format(&q.Attributes), format(&wanted)
	for _, name := range slices.Sorted(maps.Keys(in.Attributes)) {
		if have[name] != want[name] {
			return errQueueExists("attribute " + name)
		}
	}
	if len(in.Tags) > 0 && !maps.Equal(in.Tags, q.Tags) {
		return errQueueExists("tags")
	}
	return nil
}

func (r *records) checkCount(account string) error {
	return CheckQueues(r.tenants, r.catalog, r.maxQueues, account)
}

// CheckQueues refuses another queue beyond the limit of an account: its own limit or the common one, most. 0 means that
// there is no common limit.
func CheckQueues(t *tenant.Tenants, c *catalog.Catalog, most int, account string) error {
	own, limited := t.Limit(account, tenant.Queues)
	switch has := c.Count(account); {
	case limited && int64(has) >= own:
		return errors.Join(errTooManyQueues(own), t.Refuse(account, tenant.Queues))
	case most > 0 && has >= most:
		return errTooManyQueues(int64(most))
	}
	return nil
}

// room returns nil, or why there is no room for more data.
type room func() error

// check refuses a request that would add data when there is no room for it.
func (r room) check() error {
	if err := r(); err != nil {
		return service.NoRoom(err)
	}
	return nil
}
