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

// Bounds of the number of datapoints, which keep a reason and its data within AWS's limits of their length.
const (
	maxListed    = 5 // in a reason
	maxRecent    = 30
	maxEvaluated = 10
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

// beyond describes on which side of the threshold datapoints are, and shows the newest of them.
func (e *evaluation) beyond(on []Datapoint, alarm bool) string {
	r := e.rule
	not := ""
	if !alarm {
		not = "not "
	}
	threshold := fmt.Sprintf("%s%s the threshold (%s)", not, r.Comparison.words(), JavaDouble(r.Threshold)) + e.treated()
	if r.Comparison.WithBand() {
		if len(on) >= maxListed {
			return r.Comparison.farBeyond(not, on[:maxListed], e.treated())
		}
		threshold = r.Comparison.edges(not, on) + e.treated()
	}
	switch {
	case len(on) >= maxListed:
		return fmt.Sprintf(" were %s. The most recent datapoints which crossed the threshold: %s", threshold, list(on[:maxListed]))
	case len(on) == 1:
		return fmt.Sprintf(" %s was %s", list(on), threshold)
	}
	return fmt.Sprintf(" %s were %s", list(on), threshold)
}

// minimum describes how many datapoints are needed, if the rule counts them.
func (e *evaluation) minimum(alarm bool) string {
	if !e.rule.Counted {
		return ""
	}
	from, to := OK, Alarm
	if !alarm {
		from, to = Alarm, OK
	}
	atLeast := e.takes(to)
	return fmt.Sprintf(" (minimum %d %s for %s -> %s transition)", atLeast, plural("datapoint", atLeast), from, to)
}

// treated describes how missing datapoints were treated, if that was decisive.
func (e *evaluation) treated() string {
	as := map[Missing]string{Breaching: "Breaching", NotBreaching: "NonBreaching"}[e.rule.Missing]
	if e.missing == 0 || as == "" {
		return ""
	}
	return fmt.Sprintf(" and %d missing %s treated as [%s]", e.missing, were(e.missing), as)
}

// received describes how many datapoints there are.
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

// evaluated is a period that was decisive. A period without a datapoint has only its time.
type evaluated struct {
	Timestamp   string      `json:"timestamp"`
	SampleCount *javaDouble `json:"sampleCount,omitempty"`
	Value       *javaDouble `json:"value,omitempty"`
}

func (e *evaluation) data(to State) string {
	r := e.rule
	d := reasonData{
		Version: "1.0", QueryDate: e.now.UTC().Format(TimeFormat), Unit: r.Unit, Statistic: r.Statistic,
		Period: int64(r.Period / time.Second), Recent: []javaDouble{},
		Evaluated: e.evaluated(to),
	}
	points := e.points[max(0, len(e.points)-maxRecent):]
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

// evaluated returns the newest periods that have decided for a state, as many as are needed, newest first: those with
// datapoints on its side of the threshold, and those without one if the rule counts them there.
func (e *evaluation) evaluated(to State) []evaluated {
	out := []evaluated{}
	missing, points := e.missing, e.points
	if len(points) > 0 && e.sideOfMissing() == Insufficient {
		missing = 0
	}
	takes := min(e.takes(to), maxEvaluated)
	for n := 1; len(out) < takes && (missing > 0 || len(points) > 0); n++ {
		began, side := e.rule.Step(e.to, -n), e.sideOfMissing()
		shown := evaluated{Timestamp: began.UTC().Format(TimeFormat)}
		if last := len(points) - 1; last >= 0 && (missing == 0 || !points[last].Time.Before(began)) {
			shown, side = e.rule.show(points[last]), e.rule.side(points[last])
			points = points[:last]
		} else {
			missing--
		}
		if to == Insufficient || side == to {
			out = append(out, shown)
		}
	}
	return out
}

// takes returns how many datapoints a state needs.
func (e *evaluation) takes(to State) int {
	switch to {
	case Alarm:
		return e.rule.ToAlarm
	case OK:
		return e.rule.Periods - e.rule.ToAlarm + 1
	}
	return e.rule.Periods
}

// sideOfMissing returns the state for which missing datapoints count: INSUFFICIENT_DATA means none.
func (e *evaluation) sideOfMissing() State {
	switch e.rule.Missing {
	case Breaching:
		return Alarm
	case NotBreaching:
		return OK
	}
	return Insufficient
}

// side returns the state for which a datapoint counts.
func (r *Rule) side(p Datapoint) State {
	if r.breaches(p) {
		return Alarm
	}
	return OK
}

// show returns a datapoint as it is in the data of a reason.
func (r *Rule) show(p Datapoint) evaluated {
	value := javaDouble(p.Value)
	shown := evaluated{Timestamp: p.Time.UTC().Format(TimeFormat), Value: &value}
	if !r.Computed {
		count := javaDouble(p.Count)
		shown.SampleCount = &count
	}
	return shown
}

// javaDouble is a number that is encoded in JSON as by JavaDouble.
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
