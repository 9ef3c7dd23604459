package alarm

import (
	"time"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// State is the state of an alarm.
type State string

// The states.
const (
	OK           State = "OK"
	Alarm        State = "ALARM"
	Insufficient State = "INSUFFICIENT_DATA"
)

// Comparison decides whether a value breaches a threshold.
type Comparison string

// The comparisons.
const (
	Greater        Comparison = "GreaterThanThreshold"
	GreaterOrEqual Comparison = "GreaterThanOrEqualToThreshold"
	Less           Comparison = "LessThanThreshold"
	LessOrEqual    Comparison = "LessThanOrEqualToThreshold"
)

// breaches reports whether a datapoint breaches the threshold, or leaves its band.
func (r *Rule) breaches(p Datapoint) bool {
	if p.Band != nil {
		return r.Comparison.leaves(p.Value, *p.Band)
	}
	return r.Comparison.breaches(p.Value, r.Threshold)
}

// breaches reports whether a value breaches a threshold.
func (c Comparison) breaches(value, threshold float64) bool {
	switch c {
	case Greater:
		return value > threshold
	case GreaterOrEqual:
		return value >= threshold
	case Less:
		return value < threshold
	}
	return value <= threshold
}

func (c Comparison) words() string {
	switch c {
	case Greater:
		return "greater than"
	case GreaterOrEqual:
		return "greater than or equal to"
	case Less:
		return "less than"
	}
	return "less than or equal to"
}

// Missing is the treatment of missing datapoints.
type Missing string

// The treatments of missing datapoints.
const (
	AsMissing    Missing = "missing"
	Ignored      Missing = "ignore"
	Breaching    Missing = "breaching"
	NotBreaching Missing = "notBreaching"
)

// Rule is the condition that an alarm watches for.
type Rule struct {
	Comparison Comparison
	Threshold  float64
	Periods    int // N
	ToAlarm    int // M
	// Counted means that M was given: a reason then states how many datapoints are needed.
	Counted bool
	Missing Missing
	Period  time.Duration

	// Location is the time zone by whose clock the periods end. Nil: a period ends with every minute, or with every
	// shorter period.
	Location *time.Location

	// WarmUp is when the evaluation of the alarm begins; the zero time means at once. Unless WaitFully is set, it
	// begins as soon as there are N datapoints.
	WarmUp    time.Time
	WaitFully bool

	Statistic string // for the reason's data
	Unit      string
	// Computed means that datapoints are results of queries, and have no number of samples.
	Computed bool
}

// Range returns how many periods are searched for N datapoints.
func (r *Rule) Range() int { return r.Periods + max(r.Periods/3, 2) }

// Window returns the window of the evaluation. It ends with a period, and has Range periods.
func (r *Rule) Window(now time.Time) (from, to time.Time) {
	to = now.UTC().Truncate(min(r.Period, series.Minute))
	if r.Location != nil {
		to = periodStart(now.In(r.Location), r.Period).UTC()
	}
	return r.Step(to, -r.Range()), to
}

// Step returns the time that is n periods after t, or before it if n is negative. Periods that are Calendar periods are
// as long as the clock makes them; t must be the beginning of one.
func (r *Rule) Step(t time.Time, n int) time.Time {
	if !r.Calendar() {
		return t.Add(time.Duration(n) * r.Period)
	}
	t = t.In(r.Location)
	return startOfDay(t.Year(), t.Month(), t.Day()+n*int(r.Period/day), r.Location).UTC()
}

// Calendar reports whether the periods are days or weeks by the clock of a time zone. A day has 23 or 25 hours when
// the clock changes.
func (r *Rule) Calendar() bool { return r.Location != nil && r.Period >= day }

const day = 24 * time.Hour

// periodStart returns when the period began in which t is, by the clock of t's time zone. Weeks begin on Monday.
func periodStart(t time.Time, period time.Duration) time.Time {
	switch {
	case period < day:
		clock := time.Duration(
			t.Hour(),
		)*time.Hour + time.Duration(
			t.Minute(),
		)*time.Minute + time.Duration(
			t.Second(),
		)*time.Second + time.Duration(
			t.Nanosecond(),
		)
		return t.Add(-(clock % period))
	case period == day:
		return startOfDay(t.Year(), t.Month(), t.Day(), t.Location())
	}
	return startOfDay(t.Year(), t.Month(), t.Day()-(int(t.Weekday())+6)%7, t.Location())
}

// startOfDay returns the first instant of a day. It is not midnight where the clock jumps over midnight, and the
// first of two where midnight comes twice.
func startOfDay(year int, month time.Month, dayOfMonth int, in *time.Location) time.Time {
	noon := time.Date(year, month, dayOfMonth, 12, 0, 0, 0, in)
	t := time.Date(year, month, dayOfMonth, 0, 0, 0, 0, in)
	began, ends := t.ZoneBounds()
	if t.Day() != noon.Day() { // what would be midnight by the clock before the jump
		return ends
	}
	if before := began.Add(-1); !began.IsZero() && before.Day() == t.Day() && t.Sub(began) < time.Hour {
		_, offset := t.Zone()
		_, offsetBefore := before.Zone()
		return t.Add(time.Duration(offset-offsetBefore) * time.Second)
	}
	return t
}

// Datapoint is the value of a metric in a period.
type Datapoint struct {
	Time  time.Time // when the period began
	Count float64   // of samples
	Value float64
	// Band has the expected values, if the comparison is with a band. Periods without one have no datapoint.
	Band *Band
}
