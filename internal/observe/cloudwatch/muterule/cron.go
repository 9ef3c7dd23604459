package muterule

import (
	"strconv"
	"strings"
	"time"
)

// cron is when windows begin: a cron expression of five fields, in which *, ranges and lists are allowed. A day has to
// match the day of the month and the day of the week or, if neither is *, one of the two, as in other crons.
type cron struct {
	minutes, hours, days, months, weekdays set
	eitherDay                              bool
}

// set is a set of small numbers.
type set uint64

func (s set) has(n int) bool { return s&(1<<n) != 0 }

// field is the range of a field of an expression, and the names of its values.
type field struct {
	from, to int
	names    []string // of the values from from on
}

var fields = [5]field{
	{from: 0, to: 59},
	{from: 0, to: 23},
	{from: 1, to: 31},
	{from: 1, to: 12, names: []string{
		"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC",
	}},
	{from: 0, to: 7, names: []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}}, // 7 is a Sunday, too
}

func parseCron(text string) (c cron, err error) {
	written := strings.Fields(text)
	if len(written) != len(fields) {
		return c, ErrExpression
	}
	var sets [len(fields)]set
	for i, w := range written {
		if sets[i], err = fields[i].parse(w); err != nil {
			return c, err
		}
	}
	c = cron{minutes: sets[0], hours: sets[1], days: sets[2], months: sets[3], weekdays: sets[4]}
	if c.weekdays.has(7) {
		c.weekdays |= 1
	}
	c.eitherDay = written[2] != "*" && written[4] != "*"
	return c, nil
}

// parse reads a list of values and ranges.
func (f *field) parse(text string) (all set, err error) {
	for part := range strings.SplitSeq(text, ",") {
		from, to := f.from, f.to
		if part != "*" {
			first, last, isRange := strings.Cut(part, "-")
			if from, err = f.value(first); err != nil {
				return 0, err
			}
			to = from
			if isRange {
				to, err = f.value(last)
			}
		}
		if err != nil || from > to {
			return 0, ErrExpression
		}
		for n := from; n <= to; n++ {
			all |= 1 << n
		}
	}
	return all, nil
}

// value reads a number, or a name in any case.
func (f *field) value(text string) (int, error) {
	for i, name := range f.names {
		if strings.EqualFold(name, text) {
			return f.from + i, nil
		}
	}
	n, err := strconv.ParseUint(text, 10, 8)
	if err != nil || int(n) < f.from || int(n) > f.to {
		return 0, ErrExpression
	}
	return int(n), nil
}

// on reports whether windows begin on a date.
func (c *cron) on(date time.Time) bool {
	if !c.months.has(int(date.Month())) {
		return false
	}
	day, weekday := c.days.has(date.Day()), c.weekdays.has(int(date.Weekday()))
	if c.eitherDay {
		return day || weekday
	}
	return day && weekday
}
