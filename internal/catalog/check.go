package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/store"
)

// Listed is what Check finds in a catalog.
type Listed struct {
	Queues  []*Queue
	Deleted func(queue.ID) bool // as Catalog.Deleted
}

// Check reads a catalog without changing anything, and returns the queues in it
// and what is not as it should be. It leaves out keys that begin with one of others,
// the prefixes of other readers' records. An error says that the store could not be read.
func Check(s *store.Store, others ...string) (found Listed, problems []string, err error) {
	c := newRecords()
	found.Deleted = c.buried.has
	want := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Sprintf(format, args...))
		}
	}
	err = control.Records(s, "", func(k string, v []byte) bool {
		if !slices.ContainsFunc(others, func(prefix string) bool { return strings.HasPrefix(k, prefix) }) {
			_, bad := c.put(k, v)
			want(bad == nil, "record %q: %v", k, bad)
		}
		return true
	})
	if err != nil {
		return found, problems, fmt.Errorf("check catalog: %w", err)
	}
	want(len(c.secret) == secretSize, "the secret of receipt handles has %d bytes", len(c.secret))
	ids := make(map[queue.ID]Name)
	for n, q := range c.queues {
		v, err := s.Get([]byte(nameKey(keyQueue, n)))
		if err != nil {
			return found, problems, fmt.Errorf("check catalog: %w", err)
		}
		want(v != nil, "the record of queue %s is under another name", n.ARN())
		want(0 < q.ID && q.ID <= c.lastID, "queue %s has the id %d, the last one given was %d", n.ARN(), q.ID, c.lastID)
		want(ids[q.ID] == Name{}, "queues %s and %s have the same id", n.ARN(), ids[q.ID].ARN())
		want(!c.buried.has(q.ID), "queue %s has the id %d, which has a tombstone", n.ARN(), q.ID)
		ids[q.ID] = n
		want(n.Internal() || q.Attributes.FIFO == strings.HasSuffix(n.Queue, ".fifo"), "queue %s: FIFO is %t", n.ARN(), q.Attributes.FIFO)
		_, gone := c.deleted[n]
		want(!gone, "queue %s is there and was deleted", n.ARN())
		found.Queues = append(found.Queues, q)
	}
	return found, problems, nil
}
