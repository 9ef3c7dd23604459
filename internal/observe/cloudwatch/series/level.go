package series

import (
	"slices"
	"time"
)

// Minute is the shortest period, except for metrics of high resolution.
const Minute = time.Minute

// finePeriods are the periods below a minute, of metrics of high resolution.
var finePeriods = []time.Duration{time.Second, 5 * time.Second, 10 * time.Second, 20 * time.Second, 30 * time.Second}

// IsPeriod reports whether points can be merged into those of a period: 1, 5, 10, 20 or 30 seconds, or whole minutes.
func IsPeriod(period time.Duration) bool {
	return slices.Contains(finePeriods, period) || period >= Minute && period%Minute == 0
}

// A Level is a resolution and how long it is kept. Older points are merged into those of the next level.
type Level struct {
	Step time.Duration
	Keep time.Duration
}

// Levels are the resolutions, the finest first.
type Levels [3]Level

// Default is CloudWatch's retention: minutes for 15 days, five minutes for 63 days, hours for 455 days.
var Default = Levels{
	{Minute, 15 * day},
	{5 * Minute, 63 * day},
	{time.Hour, 455 * day},
}

const day = 24 * time.Hour

// At returns the finest level that still has points of that age, or false if none has.
func (l Levels) At(age time.Duration) (Level, bool) {
	for _, level := range l {
		if age <= level.Keep {
			return level, true
		}
	}
	return Level{}, false
}

// Points returns the maximum number of a series' points in a window of time.
func (l Levels) Points(now, from, to time.Time) (n int) {
	for _, level := range l {
		oldest := now.Add(-level.Keep)
		if begin := later(from, oldest); level.Keep > 0 && begin.Before(to) {
			n += int(to.Sub(begin)/level.Step) + 2
			to = begin
		}
	}
	return n
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
