package monitor

import (
	"context"
	"time"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/alarm"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// calendar is a reader whose periods of an alarm's length are the days or weeks of its clock. They are an hour shorter
// or longer when the clock changes.
type calendar struct {
	series.Reader
	rule *alarm.Rule
}

// Read implements series.Reader. From is the beginning of a day or week where the period is one.
func (c calendar) Read(
	ctx context.Context, id series.ID, from, to time.Time, period time.Duration,
) ([]series.Point, error) {
	return c.each(ctx, id, from, to, period, c.Reader.Read)
}

// ReadSamples implements series.Reader, as Read does.
func (c calendar) ReadSamples(
	ctx context.Context, id series.ID, from, to time.Time, period time.Duration,
) ([]series.Point, error) {
	return c.each(ctx, id, from, to, period, c.Reader.ReadSamples)
}

type readFunc func(ctx context.Context, id series.ID, from, to time.Time, period time.Duration) ([]series.Point, error)

// each reads day by day or week by week.
func (c calendar) each(
	ctx context.Context, id series.ID, from, to time.Time, period time.Duration, read readFunc,
) ([]series.Point, error) {
	if period != c.rule.Period {
		return read(ctx, id, from, to, period)
	}
	var all []series.Point
	for from.Before(to) {
		next := c.rule.Step(from, 1)
		points, err := read(ctx, id, from, next, next.Sub(from))
		if err != nil {
			return nil, err
		}
		all = append(all, points...)
		from = next
	}
	return all, nil
}
