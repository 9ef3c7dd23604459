package metricdata

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/alarm"
)

// part matches a part of a label that is replaced by a value: ${MAX}, ${PROP('Dim.QueueName')}.
var part = regexp.MustCompile(`\$\{\s*([A-Z_]+)\s*(?:\(\s*['"]([^'"{}]*)['"]\s*\))?\s*\}`)

// fill returns a label with its values filled in. Unknown parts stay unchanged.
func (r *run) fill(p *planned, label string, of *Result) string {
	if !strings.Contains(label, "${") {
		return label
	}
	return part.ReplaceAllStringFunc(label, func(text string) string {
		m := part.FindStringSubmatch(text)
		if m[1] == "PROP" {
			if value, ok := p.property(m[2], of, r.scope.Region, r.scope.Account); ok {
				return value
			}
			return text
		}
		if m[1] == "LABEL" && m[2] == "" {
			return of.plain
		}
		if value, ok := ofPoints(m[1], of.Points); ok && m[2] == "" {
			return value
		}
		if value, ok := r.ofTimes(m[1], of.Points); ok && m[2] == "" {
			return value
		}
		return text
	})
}

// property returns a property of the subject of a query.
func (p *planned) property(name string, r *Result, region, account string) (string, bool) {
	switch name {
	case "Region":
		return region, true
	case "AccountId":
		return account, true
	}
	stat := p.Stat
	switch {
	case r.found != nil:
		id := &r.found.id
		stat = &Stat{
			Namespace:  id.Namespace,
			Metric:     id.Metric,
			Dimensions: id.Dimensions,
			Period:     r.found.period,
			Statistic:  r.found.statistic,
		}
	case stat == nil:
		return "", false
	}
	switch name {
	case "MetricName":
		return stat.Metric, true
	case "Namespace":
		return stat.Namespace, true
	case "Stat":
		return stat.Statistic, true
	case "Period":
		return strconv.Itoa(int(stat.Period / time.Second)), true
	}
	if of, ok := strings.CutPrefix(name, "Dim."); ok {
		for _, d := range stat.Dimensions {
			if d.Name == of {
				return d.Value, true
			}
		}
	}
	return "", false
}

// ofPoints returns a value over all points, oldest first, by its name.
func ofPoints(name string, points []Datapoint) (string, bool) {
	if name == "DATAPOINT_COUNT" {
		return strconv.Itoa(len(points)), true
	}
	if len(points) == 0 {
		return "--", strings.Contains(" AVG FIRST FIRST_LAST_RANGE LAST MAX MIN MIN_MAX_RANGE SUM ", " "+name+" ")
	}
	first := points[0].Value
	sum, least, most := 0.0, first, first
	for _, p := range points {
		sum, least, most = sum+p.Value, min(least, p.Value), max(most, p.Value)
	}
	value, known := map[string]float64{
		"FIRST_LAST_RANGE": points[len(points)-1].Value - first, "MIN_MAX_RANGE": most - least,
		"AVG": sum / float64(len(points)), "FIRST": first, "LAST": points[len(points)-1].Value, "MAX": most,
		"MIN": least, "SUM": sum,
	}[name]
	return alarm.JavaDouble(value), known
}

// ofTimes returns a time over all points, oldest first, or a difference of times, by its name.
func (r *run) ofTimes(name string, points []Datapoint) (string, bool) {
	of, relative := strings.CutSuffix(name, "_RELATIVE")
	if len(points) == 0 {
		return "--", strings.Contains(" FIRST_TIME LAST_TIME MAX_TIME MIN_TIME ", " "+of+" ") ||
			strings.Contains(" FIRST_LAST_TIME_RANGE MIN_MAX_TIME_RANGE ", " "+name+" ")
	}
	first, last := points[0].Time, points[len(points)-1].Time
	compare := func(a, b Datapoint) int { return cmp.Compare(a.Value, b.Value) }
	least, most := slices.MinFunc(points, compare).Time, slices.MaxFunc(points, compare).Time
	at, known := map[string]time.Time{"FIRST_TIME": first, "LAST_TIME": last, "MAX_TIME": most, "MIN_TIME": least}[of]
	switch {
	case known && relative:
		return apart(at, r.Now), true
	case known:
		return r.inZone(at), true
	case name == "FIRST_LAST_TIME_RANGE":
		return apart(first, last), true
	case name == "MIN_MAX_TIME_RANGE":
		return apart(least, most), true
	}
	return "", false
}

// inZone shows a time in the time zone of labels.
func (r *run) inZone(at time.Time) string {
	if r.Zone == nil {
		return at.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	return at.In(r.Zone).Format("2006-01-02 15:04:05 -0700")
}

// apart formats the distance between two times.
func apart(a, b time.Time) string { return b.Sub(a).Abs().Truncate(time.Second).String() }
