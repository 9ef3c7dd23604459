package muterule

import (
	"errors"
	"testing"
	"time"
)

func TestSchedules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		expression, duration, zone string
		open, closed               []string
	}{
		// The examples of AWS's model. 2026-11-21 is a Saturday.
		{"cron(0 2 * * *)", "PT4H", "", []string{"2026-11-21T02:00:00", "2026-11-21T05:59:59"},
			[]string{"2026-11-21T01:59:59", "2026-11-21T06:00:00"}},
		{"cron(0 2 * * SUN)", "PT4H", "", []string{"2026-11-22T02:00:00"},
			[]string{"2026-11-21T02:00:00", "2026-11-22T06:00:00", "2026-11-23T03:00:00"}},
		{"cron(0 1 1 * *)", "PT6H", "", []string{"2026-11-01T01:00:00", "2026-12-01T06:59:00"},
			[]string{"2026-11-02T01:00:00", "2026-11-01T07:00:00"}},
		{"cron(0 18 * * FRI)", "P2DT12H", "", []string{"2026-11-20T18:00:00", "2026-11-23T05:59:59"},
			[]string{"2026-11-20T17:59:59", "2026-11-23T06:00:00"}},
		{"cron(0 23 * * *)", "PT2H", "", []string{"2026-11-21T23:30:00", "2026-11-22T00:59:00"},
			[]string{"2026-11-22T01:00:00", "2026-11-22T22:59:00"}},
		{"at(2026-12-23T00:00)", "P7D", "", []string{"2026-12-23T00:00:00", "2026-12-29T23:59:59"},
			[]string{"2026-12-22T23:59:59", "2026-12-30T00:00:00"}},
		// Lists, ranges, names in any case, and both numbers of Sunday.
		{"cron(15,45 9-17 * jan-MAR,DEC mon-FRI)", "PT1M", "", []string{"2026-12-01T09:15:00", "2026-03-31T17:45:59"},
			[]string{"2026-12-01T09:16:00", "2026-12-05T09:15:00", "2026-04-01T09:15:00", "2026-12-01T18:15:00"}},
		{"cron(0 0 * * 0)", "PT1H", "", []string{"2026-11-22T00:30:00"}, []string{"2026-11-21T00:30:00"}},
		{"cron(0 0 * * 7)", "PT1H", "", []string{"2026-11-22T00:30:00"}, []string{"2026-11-23T00:30:00"}},
		{"cron(0 0 * * 5-7)", "PT1H", "", []string{"2026-11-22T00:30:00", "2026-11-20T00:30:00"},
			[]string{"2026-11-23T00:30:00"}},
		{"cron(* * * * *)", "PT1M", "", []string{"2026-11-21T00:00:00", "2026-11-21T23:59:59"}, nil},
		// Either day, if both are restricted.
		{"cron(0 0 13 * FRI)", "PT1H", "",
			[]string{"2026-11-13T00:30:00", "2026-11-20T00:30:00", "2026-12-13T00:30:00"},
			[]string{"2026-11-21T00:30:00"}},
		{"cron(0 0 31 2 *)", "P15D", "", nil, []string{"2026-03-01T00:00:00", "2026-03-03T00:00:00"}},
		// A window on the last day of a month, with the maximum duration.
		{"cron(0 0 31 10 *)", "P15D", "", []string{"2026-11-14T23:59:59"}, []string{"2026-11-15T00:00:00"}},
		// Time zones, also when clocks change: 2026-03-29 has no 02:30 in Berlin, 2026-10-25 has two.
		{"cron(0 2 * * *)", "PT1H", "Asia/Tokyo", []string{"2026-11-20T17:00:00"}, []string{"2026-11-21T02:00:00"}},
		{"at(2026-07-01T12:00)", "PT1H", "America/New_York", []string{"2026-07-01T16:00:00"},
			[]string{"2026-07-01T12:30:00"}},
		{"cron(30 2 * * *)", "PT1H", "Europe/Berlin", []string{"2026-03-29T01:45:00", "2026-10-25T01:00:00"},
			[]string{"2026-03-29T04:00:00", "2026-10-25T01:30:00"}},
	} {
		s, err := Parse(c.expression, c.duration, c.zone)
		if err != nil {
			t.Errorf("%s: %v", c.expression, err)
			continue
		}
		for _, at := range c.open {
			if !s.Open(instant(t, at)) {
				t.Errorf("%s for %s is not open at %s", c.expression, c.duration, at)
			}
		}
		for _, at := range c.closed {
			if s.Open(instant(t, at)) {
				t.Errorf("%s for %s is open at %s", c.expression, c.duration, at)
			}
		}
	}
}

func instant(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse("2006-01-02T15:04:05", text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestInvalidSchedules(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]error{
		"cron(0 2 * * *)": nil, "at(2026-12-23T00:00)": nil, "cron( 0  2 * * * )": nil,
		"": ErrExpression, "rate(1 day)": ErrExpression, "cron(0 2 * * *": ErrExpression, "0 2 * * *": ErrExpression,
		"cron()":              ErrExpression,
		"cron(0 2 ? * SUN *)": ErrExpression, "cron(0 2 ? * SUN)": ErrExpression, "cron(0/5 2 * * *)": ErrExpression,
		"cron(60 2 * * *)": ErrExpression,
		"cron(0 24 * * *)": ErrExpression, "cron(0 2 0 * *)": ErrExpression, "cron(0 2 * 13 *)": ErrExpression,
		"cron(0 2 * * 8)":       ErrExpression,
		"cron(0 2 * * FRI-MON)": ErrExpression, "cron(5-1 2 * * *)": ErrExpression, "cron(, 2 * * *)": ErrExpression,
		"cron(-1 2 * * *)": ErrExpression,
		"cron(+1 2 * * *)": ErrExpression, "cron(1- 2 * * *)": ErrExpression, "cron(0 2 * * SUNDAY)": ErrExpression,
		"cron(0 2 * SUN *)":       ErrExpression,
		"at(2026-09-05T02:00:00)": ErrAt, "at(2026-02-30T00:00)": ErrAt, "at()": ErrAt, "at(2026-09-05T02:00Z)": ErrAt,
		"at(2026-09-05 02:00)": ErrAt,
	} {
		if _, err := Parse(expression, "PT1H", ""); !errors.Is(err, want) {
			t.Errorf("%s: %v", expression, err)
		}
	}
	for duration, want := range map[string]error{
		"PT1M": nil, "P15D": nil, "P2DT12H": nil, "PT90S": nil, "PT360H": nil, "P14DT24H": nil, "PT21600M": nil,
		"": ErrDuration, "P": ErrDuration, "PT": ErrDuration, "P1DT": ErrDuration, "2h": ErrDuration,
		"PT59S": ErrDuration, "P15DT1S": ErrDuration, "P1M": ErrDuration,
		"P1W": ErrDuration, "-PT1H": ErrDuration, "PT-1H": ErrDuration, "PT1.5H": ErrDuration, "pt1h": ErrDuration,
		"PT9999999H": ErrDuration, "P99999999D": ErrDuration, "PT1H ": ErrDuration,
	} {
		if _, err := Parse("cron(0 2 * * *)", duration, "UTC"); !errors.Is(err, want) {
			t.Errorf("%s: %v", duration, err)
		}
	}
	for zone, want := range map[string]error{
		"": nil, "UTC": nil, "Europe/London": nil, "Local": ErrTimezone, "Mars/Base": ErrTimezone,
		"../etc/passwd": ErrTimezone, "+01:00": ErrTimezone,
	} {
		if _, err := Parse("cron(0 2 * * *)", "PT1H", zone); !errors.Is(err, want) {
			t.Errorf("%s: %v", zone, err)
		}
	}
}

// The search finds the same windows as a walk over all minutes.
func TestScheduleAgainstWalk(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ expression, duration string }{
		{"cron(7,50 3,22 * * MON,THU)", "PT5H"}, {"cron(0 0 1-7 * 0)", "P3D"}, {"cron(59 23 31 * *)", "PT40M"},
	} {
		s, err := Parse(c.expression, c.duration, zone.String())
		if err != nil {
			t.Fatal(err)
		}
		var until time.Time
		began := time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC)
		for at := began.AddDate(0, 0, -maxDays); at.Month() < 12; at = at.Add(time.Minute) {
			local := at.In(zone)
			again := local.Add(-time.Hour).Hour() == local.Hour() // the second of two hours with the same name
			if s.cron.on(local) && s.cron.hours.has(local.Hour()) && s.cron.minutes.has(local.Minute()) && !again {
				until = at.Add(s.duration)
			}
			if got := s.Open(at); at.After(began) && got != at.Before(until) {
				t.Fatalf("%s at %s: %v", c.expression, local, got)
			}
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	s, err := Parse("cron(0 2 29 2 *)", "P15D", "America/New_York")
	if err != nil {
		b.Fatal(err)
	}
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	b.ReportAllocs()
	for b.Loop() {
		s.Open(now)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("cron(0 2 * * SUN)", "P2DT12H", "Asia/Tokyo")
	f.Add("at(2026-12-23T00:00)", "PT1M", "")
	f.Fuzz(func(t *testing.T, expression, duration, zone string) {
		s, err := Parse(expression, duration, zone)
		if err != nil {
			return
		}
		began, ok := s.began(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
		if ok && !s.Open(began) {
			t.Errorf("%s is not open at %s, when a window begins", expression, began)
		}
	})
}
