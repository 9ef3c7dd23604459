package monitor_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/alarm"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// slowReader is slow for the metrics of one account.
type slowReader struct {
	series.Reader
	account string
}

func (s slowReader) Read(
	ctx context.Context, id series.ID, from, to time.Time, period time.Duration,
) ([]series.Point, error) {
	if id.Account == s.account {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return s.Reader.Read(ctx, id, from, to, period)
}

// An account whose alarms take longer than the limit of an evaluation does not delay the alarms of others.
func TestSlowAlarmsDelayNoOthers(t *testing.T) {
	t.Parallel()
	const slow, many = "111111111111", 200
	r := newRig(t)
	r.visible(start, 100)
	r.evaluator.Reader = slowReader{r.metrics, slow}
	r.change(func(tx *monitor.Tx) error {
		for i := range many {
			for _, account := range []string{scope.Account, slow} {
				a := backlog()
				a.Name.Account, a.Name.Name = account, fmt.Sprintf("alarm%d", i)
				if err := tx.Create(a, start); err != nil {
					return err
				}
			}
		}
		return nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := r.evaluator.Evaluate(ctx, start); err == nil {
		t.Error("the slow alarms were evaluated in time")
	}
	for i := range many {
		name := monitor.Name{Scope: scope, Name: fmt.Sprintf("alarm%d", i)}
		if state := r.Alarm(name).State; state != alarm.Alarm {
			t.Fatalf("%s is in the state %v", name.Name, state)
		}
	}
}
