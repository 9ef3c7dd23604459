package alarm

import (
	"time"

	"github.com/sluicemq/sluice/internal/observe/series"
)

// State is what an alarm says.
type State string

// The states.
const (
	OK           State = "OK"
	Alarm        State = "ALARM"
	Insufficient State = "INSUFFICIENT_DATA"
)

// Comparison is how a value breaches a threshold.
type Comparison string

// The comparisons.
const (
	Greater        Comparison = "GreaterThanThreshold"
	GreaterOrEqual Comparison = "GreaterThanOrEqualToThreshold"
	Less           Comparison = "LessThanThreshold"
	LessOrEqual    Comparison = "LessThanOrEqualToThreshold"
)

// breaches reports whether a value is on the wrong side of a threshold.
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

// Missing says how missing datapoints count.
type Missing string

// The treatments of missing datapoints.
const (
	AsMissing    Missing = "missing"
	Ignored      Missing = "ignore"
	Breaching    Missing = "breaching"
	NotBreaching Missing = "notBreaching"
)

// Rule is what an alarm watches for.
type Rule struct {
	Comparison Comparison
	Threshold  float64
	Periods    int // N
	ToAlarm    int // M
	Missing    Missing
	Period     time.Duration

	// Location is the time zone by whose clock the periods end; nil: a period ends with every minute, or with
	// every period that is shorter.
	Location *time.Location

	// WarmUp is when the alarm begins to be evaluated; the zero time: at once. Unless WaitFully is set, it begins as soon as
	// there are N datapoints.
	WarmUp    time.Time
	WaitFully bool

	Statistic string // for the reason's data
	Unit      string
}

// Range returns how many periods are looked at to find N datapoints.
func (r *Rule) Range() int { return r.Periods + max(r.Periods/3, 2) }

// Window returns the time that is looked at. Its end is when a period ended, and its length is Range periods.
func (r *Rule) Window(now time.Time) (from, to time.Time) {
	to = now.UTC().Truncate(min(r.Period, series.Minute))
	if r.Location != nil {
		to = periodStart(now.In(r.Location), r.Period)
	}
	return to.Add(-time.Duration(r.Range()) * r.Period).UTC(), to.UTC()
}

// periodStart returns when the period began in which t is, by the clock of t's time zone. Weeks begin on Monday.
func periodStart(t time.Time, period time.Duration) time.Time {
	midnight := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
	switch {
	case period <= time.Hour:
		clock := time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond())
		return t.Add(-(clock % period))
	case period <= 24*time.Hour:
		return midnight
	}
	return midnight.AddDate(0, 0, -(int(t.Weekday())+6)%7)
}

// Datapoint is the value of a metric in a period.
type Datapoint struct {
	Time  time.Time // when the period began
	Count float64   // of samples
	Value float64
}
