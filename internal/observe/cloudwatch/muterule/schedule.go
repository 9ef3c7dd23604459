package muterule

import (
	"errors"
	"strings"
	"time"
)

// The reasons why a schedule is invalid.
var (
	ErrExpression = errors.New("the expression is neither cron(...) nor at(...)")
	ErrAt         = errors.New("the time of an at expression is not of the form yyyy-MM-ddThh:mm")
	ErrDuration   = errors.New("the duration is not an ISO 8601 duration from one minute to 15 days")
	ErrTimezone   = errors.New("there is no such time zone")
)

// Schedule is when windows begin, and how long they are. It is immutable.
type Schedule struct {
	at       time.Time // when the only window begins, or zero
	cron     cron      // or else when they begin
	duration time.Duration
	location *time.Location
}

const (
	atPrefix   = "at("
	cronPrefix = "cron("
	atFormat   = "2006-01-02T15:04"
)

// Parse reads a schedule. Its error is one of this package. An empty time zone is UTC.
func Parse(expression, duration, timezone string) (s *Schedule, err error) {
	s = new(Schedule)
	if s.location, err = location(timezone); err != nil {
		return nil, err
	}
	if s.duration, err = parseDuration(duration); err != nil {
		return nil, err
	}
	inner, closed := strings.CutSuffix(expression, ")")
	at, isAt := strings.CutPrefix(inner, atPrefix)
	fields, isCron := strings.CutPrefix(inner, cronPrefix)
	switch {
	case closed && isAt:
		if s.at, err = time.ParseInLocation(atFormat, at, s.location); err != nil {
			return nil, ErrAt
		}
	case closed && isCron:
		if s.cron, err = parseCron(fields); err != nil {
			return nil, err
		}
	default:
		return nil, ErrExpression
	}
	return s, nil
}

// location returns the time zone of an IANA name.
func location(name string) (*time.Location, error) {
	if name == "Local" { // which is the server's
		return nil, ErrTimezone
	}
	l, err := time.LoadLocation(name)
	if err != nil {
		return nil, ErrTimezone
	}
	return l, nil
}

// Open reports whether a window is open at a time.
func (s *Schedule) Open(now time.Time) bool {
	began, ok := s.began(now)
	return ok && now.Before(began.Add(s.duration))
}

// over reports whether the only window has ended.
func (s *Schedule) over(now time.Time) bool {
	return !s.at.IsZero() && !now.Before(s.at.Add(s.duration))
}

// began returns when the last window until now began. It looks back for the duration of a window: an earlier one has
// ended.
func (s *Schedule) began(now time.Time) (time.Time, bool) {
	if !s.at.IsZero() {
		return s.at, !s.at.After(now)
	}
	local := now.In(s.location)
	year, month, day := local.Date()
	for back := range maxDays + 1 {
		date := time.Date(year, month, day-back, 0, 0, 0, 0, time.UTC)
		if !s.cron.on(date) {
			continue
		}
		latest := 23
		if back == 0 {
			latest = min(local.Hour()+1, latest) // an hour more, for clocks that change
		}
		if began, ok := s.onDay(date, latest, now); ok {
			return began, true
		}
	}
	return time.Time{}, false
}

// onDay returns the beginning of the last window of a day that has begun by now.
func (s *Schedule) onDay(date time.Time, latest int, now time.Time) (time.Time, bool) {
	year, month, day := date.Date()
	for hour := latest; hour >= 0; hour-- {
		if !s.cron.hours.has(hour) {
			continue
		}
		for minute := 59; minute >= 0; minute-- {
			if !s.cron.minutes.has(minute) {
				continue
			}
			if began := first(time.Date(year, month, day, hour, minute, 0, 0, s.location)); !began.After(now) {
				return began, true
			}
		}
	}
	return time.Time{}, false
}

// first returns the first of the instants at which clocks show the same time as at t: they show an hour twice when they
// go back.
func first(t time.Time) time.Time {
	before := t.Add(-time.Hour)
	if before.Hour() == t.Hour() && before.Minute() == t.Minute() {
		return before
	}
	return t
}
