package metricdata

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/alarm"
)

// part is what a label may have in place of which a value is shown: ${MAX}, ${PROP('Dim.QueueName')}.
var part = regexp.MustCompile(`\$\{\s*([A-Z_]+)\s*(?:\(\s*['"]([^'"{}]*)['"]\s*\))?\s*\}`)

// fill returns a label with its values filled in. Unknown parts stay unchanged.
func (p *planned) fill(label string, r *Result, region, account string) string {
	if !strings.Contains(label, "${") {
		return label
	}
	return part.ReplaceAllStringFunc(label, func(text string) string {
		m := part.FindStringSubmatch(text)
		if m[1] == "PROP" {
			if value, ok := p.property(m[2], r, region, account); ok {
				return value
			}
			return text
		}
		if m[1] == "LABEL" && m[2] == "" {
			return r.plain
		}
		if value, ok := ofPoints(m[1], r.Points); ok && m[2] == "" {
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
