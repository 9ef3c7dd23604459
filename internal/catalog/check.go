package catalog

import (
	"fmt"
	"strings"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/store"
)

// Listed is what Check finds in a catalog.
type Listed struct {
	Queues  []*Queue
	Shelved []*Queue            // deleted ones whose deletion can be undone
	Deleted func(queue.ID) bool // as Catalog.Deleted
}

// Check reads a catalog without changing it, and returns its queues and the problems that it found. It ignores keys
// that begin with one of others, the prefixes of other readers. An error means that the store could not be read.
func Check(s *store.Store, others ...string) (found Listed, problems []string, err error) {
	want := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Sprintf(format, args...))
		}
	}
	r, err := control.Check(s, "", recordsOf(false), func(key string, bad error) {
		want(false, "record %q: %v", key, bad)
	}, others...)
	found.Deleted = r.hasBuried
	if err != nil {
		return found, problems, fmt.Errorf("check catalog: %w", err)
	}
	secret, lastID := control.Only(r.secret), control.Only(r.lastID)
	want(len(secret) == secretSize, "the secret of receipt handles has %d bytes", len(secret))
	ids := make(map[queue.ID]Name)
	for key, q := range r.queues {
		n := q.Name
		want(n == key, "the record of queue %s is under another name", n.ARN())
		want(0 < q.ID && q.ID <= lastID, "queue %s has the id %d, the last one given was %d", n.ARN(), q.ID, lastID)
		want(ids[q.ID] == Name{}, "queues %s and %s have the same id", n.ARN(), ids[q.ID].ARN())
		want(!r.hasBuried(q.ID), "queue %s has the id %d, which has a tombstone", n.ARN(), q.ID)
		ids[q.ID] = n
		want(
			n.Internal() || q.Attributes.FIFO == strings.HasSuffix(n.Queue, ".fifo"), "queue %s: FIFO is %t", n.ARN(),
			q.Attributes.FIFO,
		)
		want(r.deleted[n] == nil, "queue %s is there and was deleted", n.ARN())
		found.Queues = append(found.Queues, q)
	}
	for id, q := range r.shelf {
		n := q.Name
		want(q.ID == id && !q.Deleted.IsZero(), "the record of the deleted queue %s is not its own", n.ARN())
		want(0 < id && id <= lastID, "the deleted queue %s has the id %d, the last one given was %d", n.ARN(), id, lastID)
		want(ids[id] == Name{}, "the deleted queue %s has the id of %s", n.ARN(), ids[id].ARN())
		want(!r.hasBuried(id), "the deleted queue %s can be brought back and has a tombstone", n.ARN())
		found.Shelved = append(found.Shelved, q)
	}
	return found, problems, nil
}
