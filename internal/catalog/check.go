package catalog

import (
	"fmt"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/store"
)

// Check reads a catalog without changing anything, and returns the queues in it
// and what is not as it should be. An error says that it could not be read.
func Check(s *store.Store) (queues []*Queue, problems []string, err error) {
	c := &Catalog{store: s, queues: make(map[Name]*Queue), deleted: make(map[Name]time.Time)}
	want := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Sprintf(format, args...))
		}
	}
	err = s.Scan([]byte{0}, []byte{0xff}, func(k, v []byte) bool {
		bad := c.load(string(k), v)
		want(bad == nil, "record %q: %v", k, bad)
		return true
	})
	if err != nil {
		return nil, problems, fmt.Errorf("check catalog: %w", err)
	}
	want(len(c.secret) == secretSize, "the secret of receipt handles has %d bytes", len(c.secret))
	ids := make(map[queue.ID]Name)
	for n, q := range c.queues {
		key := nameKey(keyQueue, n)
		v, err := s.Get(key)
		if err != nil {
			return nil, problems, fmt.Errorf("check catalog: %w", err)
		}
		want(v != nil, "the record of queue %s is under another name", n.ARN())
		want(0 < q.ID && q.ID <= c.lastID, "queue %s has the id %d, the last one given was %d", n.ARN(), q.ID, c.lastID)
		want(ids[q.ID] == Name{}, "queues %s and %s have the same id", n.ARN(), ids[q.ID].ARN())
		ids[q.ID] = n
		want(q.Attributes.FIFO == strings.HasSuffix(n.Queue, ".fifo"), "queue %s: FIFO is %t", n.ARN(), q.Attributes.FIFO)
		_, gone := c.deleted[n]
		want(!gone, "queue %s is there and was deleted", n.ARN())
	}
	return c.All(), problems, nil
}
