package server

import (
	"runtime/debug"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/observe/budget"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/queueseries"
	"github.com/sluicemq/sluice/internal/queue"
)

// newSeries returns the reader of the per-minute metrics of queues.
func (m *monitoring) newSeries() *queueseries.Reader {
	now := m.config.Now
	if now == nil {
		now = time.Now
	}
	queues := m.storage.catalog.Load()
	return queueseries.New(queueseries.Options{
		Source: m.storage.messages, Keep: m.config.Keep, Now: now,
		Queue: func(arn string) (queue.ID, time.Time, bool) {
			part := strings.Split(arn, ":")
			if len(part) != 6 {
				return 0, time.Time{}, false
			}
			q := queues.Find(catalog.Name{Region: part[3], Account: part[4], Queue: part[5]})
			if q == nil {
				return 0, time.Time{}, false
			}
			return q.ID, q.Created, true
		},
	})
}

// newHistory returns the budget for queries of metrics and events: budget.Size, or a quarter of the process's memory
// limit if that is less.
func newHistory() *budget.Budget { return budget.New(min(budget.Size, debug.SetMemoryLimit(-1)/4)) }
