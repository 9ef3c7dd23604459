package alarm

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxListed is the maximum number of datapoints in a reason, and maxData that in its data.
const (
	maxListed = 5
	maxData   = 10
)

// crossed explains why the state is ALARM or OK.
func (e *evaluation) crossed(alarm bool) string {
	r := e.rule
	var on []Datapoint // the side that decided, newest first
	for _, p := range slices.Backward(e.points) {
		if r.breaches(p) == alarm {
			on = append(on, p)
		}
	}
	if len(on) == 0 {
		return fmt.Sprintf("%s: %s received for %d %s%s.",
			r.subject(), received(len(e.points)), r.Periods, plural("period", r.Periods), e.treated())
	}
	subject := fmt.Sprintf("%d %s", len(on), plural("datapoint", len(on)))
	if r.Counted {
		subject = fmt.Sprintf("%d out of the last %d datapoints", len(on), r.Periods)
	}
	return r.subject() + ": " + subject + e.beyond(on, alarm) + e.minimum(alarm) + "."
}

// subject begins a reason.
func (r *Rule) subject() string {
	if r.Comparison.WithBand() {
		return "Thresholds Crossed"
	}
	return "Threshold Crossed"
}

// beyond says on which side of the threshold datapoints are, and shows the newest of them.
func (e *evaluation) beyond(on []Datapoint, alarm bool) string {
	r := e.rule
	not := ""
	if !alarm {
		not = "not "
	}
	side := fmt.Sprintf("%s the threshold (%s)", r.Comparison.words(), JavaDouble(r.Threshold))
	if r.Comparison.WithBand() {
		side = r.Comparison.edges(on[:min(len(on), maxListed)])
	}
	threshold := not + side + e.treated()
	switch {
	case len(on) >= maxListed:
		return fmt.Sprintf(" were %s. The most recent datapoints which crossed the threshold: %s", threshold, list(on[:maxListed]))
	case len(on) == 1:
		return fmt.Sprintf(" %s was %s", list(on), threshold)
	}
	return fmt.Sprintf(" %s were %s", list(on), threshold)
}

// minimum says how many datapoints it takes, if the rule counts them.
func (e *evaluation) minimum(alarm bool) string {
	r := e.rule
	if !r.Counted {
		return ""
	}
	atLeast, from, to := r.ToAlarm, OK, Alarm
	if !alarm {
		atLeast, from, to = r.Periods-r.ToAlarm+1, Alarm, OK
	}
	return fmt.Sprintf(" (minimum %d %s for %s -> %s transition)", atLeast, plural("datapoint", atLeast), from, to)
}

// treated says how missing datapoints were treated, if that has decided.
func (e *evaluation) treated() string {
	as := map[Missing]string{Breaching: "Breaching", NotBreaching: "NonBreaching"}[e.rule.Missing]
	if e.missing == 0 || as == "" {
		return ""
	}
	return fmt.Sprintf(" and %d missing %s treated as [%s]", e.missing, were(e.missing), as)
}

// received says how many datapoints there are.
func received(n int) string {
	if n == 0 {
		return "no datapoints were"
	}
	return fmt.Sprintf("%d %s", n, were(n))
}

// unknown explains that there is no datapoint.
func (e *evaluation) unknown() string {
	if e.rule.Periods == 1 {
		return "Insufficient Data: 1 datapoint was unknown."
	}
	return fmt.Sprintf("Insufficient Data: %d datapoints were unknown.", e.rule.Periods)
}

func were(n int) string {
	if n == 1 {
		return "datapoint was"
	}
	return "datapoints were"
}

func plural(word string, n int) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// list shows datapoints with their times.
func list(points []Datapoint) string {
	parts := make([]string, len(points))
	for i, p := range points {
		parts[i] = JavaDouble(p.Value) + p.Time.UTC().Format(" (02/01/06 15:04:05)")
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// TimeFormat is the format of times in reasons and notifications.
const TimeFormat = "2006-01-02T15:04:05.000-0700"

// reasonData is the machine-readable reason of a decision.
type reasonData struct {
	Version   string       `json:"version"`
	QueryDate string       `json:"queryDate"`
	StartDate string       `json:"startDate,omitempty"`
	Unit      string       `json:"unit,omitempty"`
	Statistic string       `json:"statistic,omitempty"`
	Period    int64        `json:"period"`
	Recent    []javaDouble `json:"recentDatapoints"`
	Threshold *javaDouble  `json:"threshold,omitempty"`
	Lower     []javaDouble `json:"recentLowerThresholds,omitempty"`
	Upper     []javaDouble `json:"recentUpperThresholds,omitempty"`
	Evaluated []evaluated  `json:"evaluatedDatapoints"`
}

// evaluated is a period that has decided. A period without a datapoint has only its time.
type evaluated struct {
	Timestamp   string      `json:"timestamp"`
	SampleCount *javaDouble `json:"sampleCount,omitempty"`
	Value       *javaDouble `json:"value,omitempty"`
}

func (e *evaluation) data() string {
	r := e.rule
	d := reasonData{
		Version: "1.0", QueryDate: e.now.UTC().Format(TimeFormat), Unit: r.Unit, Statistic: r.Statistic,
		Period: int64(r.Period / time.Second), Recent: []javaDouble{},
		Evaluated: e.evaluated(),
	}
	points := e.points[max(0, len(e.points)-maxData):]
	if len(points) > 0 {
		d.StartDate = points[0].Time.UTC().Format(TimeFormat)
	}
	if threshold := javaDouble(r.Threshold); !r.Comparison.WithBand() {
		d.Threshold = &threshold
	}
	for _, p := range points {
		d.Recent = append(d.Recent, javaDouble(p.Value))
		if p.Band != nil {
			d.Lower, d.Upper = append(d.Lower, javaDouble(p.Band.Low)), append(d.Upper, javaDouble(p.Band.High))
		}
	}
	text, err := json.Marshal(d)
	if err != nil {
		panic(err) // numbers and texts have a JSON form
	}
	return string(text)
}

// evaluated returns the newest periods that have decided, newest first: those with datapoints, and, where the rule
// counts missing datapoints as breaching or not, as many of the newest without. If all are missing, all are without.
func (e *evaluation) evaluated() []evaluated {
	out := []evaluated{}
	missing := e.missing
	if len(e.points) > 0 && e.rule.Missing != Breaching && e.rule.Missing != NotBreaching {
		missing = 0
	}
	points := e.points
	for n := 1; len(out) < maxData && (missing > 0 || len(points) > 0); n++ {
		began := e.rule.Step(e.to, -n)
		switch {
		case len(points) > 0 && (missing == 0 || !points[len(points)-1].Time.Before(began)):
			p := points[len(points)-1]
			points = points[:len(points)-1]
			count, value := javaDouble(p.Count), javaDouble(p.Value)
			out = append(out, evaluated{p.Time.UTC().Format(TimeFormat), &count, &value})
		default:
			missing--
			out = append(out, evaluated{Timestamp: began.UTC().Format(TimeFormat)})
		}
	}
	return out
}

// javaDouble is a number that JSON has as JavaDouble writes it.
type javaDouble float64

// MarshalJSON implements json.Marshaler.
func (d javaDouble) MarshalJSON() ([]byte, error) { return []byte(JavaDouble(float64(d))), nil }

// JavaDouble formats a number as in CloudWatch's texts: 21.0, 0.5, 1.0E7, Infinity.
func JavaDouble(n float64) string {
	if math.IsInf(n, 0) {
		return strings.TrimPrefix(strconv.FormatFloat(n, 'f', -1, 64), "+") + "inity"
	}
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(n, 'e', -1, 64), "e")
	e, err := strconv.Atoi(exponent)
	if err != nil {
		return digits // NaN
	}
	if e < -3 || e >= 7 {
		if !strings.Contains(digits, ".") {
			digits += ".0"
		}
		if n != 0 {
			return digits + "E" + strconv.Itoa(e)
		}
	}
	text := strconv.FormatFloat(n, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}
