package torture

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/proof/history"
	"github.com/sluicemq/sluice/internal/proof/workload"
)

// countedWithin is the time within which metrics must be complete. Their minute has to end first, and nodes whose
// clocks differ do not end it at the same moment.
const countedWithin = 90 * time.Second

// compareCounters compares the metrics of all queues with all calls of the run. Each node must know them.
func (r *runner) compareCounters(ctx context.Context, j *workload.Journal) error {
	if slices.Contains(r.config.Serve, "--metrics-keep-minutes=0") {
		return nil
	}
	queues := r.counters.Queues()
	from, until := r.clock.Began.Add(-time.Hour), time.Now().Add(countedWithin+r.config.Margin)
	r.say("the counters of %d queues are compared when their minute is over", len(queues))
	for i, c := range r.cluster.clients {
		var wrong []history.Violation
		var err error
		for {
			var counted map[string]history.Counted
			if counted, err = c.Counted(ctx, queues, from, time.Now().Add(time.Hour)); err == nil {
				wrong = r.counters.Compare(counted)
			}
			if err == nil && len(wrong) == 0 || ctx.Err() != nil || time.Now().After(until) {
				break
			}
			time.Sleep(time.Second)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			wrong = []history.Violation{
				{Rule: "counters", Text: fmt.Sprintf("the metrics cannot be read: %s", strings.TrimSpace(err.Error()))},
			}
		}
		for _, v := range wrong {
			j.Note(v.Rule, v.Queue, v.Name, "node %s: %s", nameOf(i), v.Text)
		}
	}
	return nil
}
