package alarm_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/alarm"
)

var now = time.Date(2026, 11, 21, 1, 7, 12, 345e6, time.UTC)

// points reads "0 - X": not breaching, missing, breaching; the newest last, in the minutes before now.
func points(text string) (out []alarm.Datapoint) {
	fields := strings.Fields(text)
	first := now.Truncate(time.Minute).Add(-time.Duration(len(fields)) * time.Minute)
	for i, f := range fields {
		at := first.Add(time.Duration(i) * time.Minute)
		switch f {
		case "0":
			out = append(out, alarm.Datapoint{Time: at, Count: 1})
		case "X":
			out = append(out, alarm.Datapoint{Time: at, Count: 2, Value: 21.5})
		}
	}
	return out
}

func rule(m, n int, missing alarm.Missing) *alarm.Rule {
	return &alarm.Rule{
		Comparison: alarm.Greater, Threshold: 21, Periods: n, ToAlarm: m, Missing: missing, Period: time.Minute,
		Statistic: "Average",
	}
}

// The table of CloudWatch's documentation. "keep" means the current state of the alarm.
func TestMissingData(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"3/3 | 0 - X - X | OK | OK | OK | OK",
		"3/3 | 0 - - - - | OK | OK | OK | OK",
		"3/3 | - - - - - | INSUFFICIENT_DATA | keep | ALARM | OK",
		"3/3 | 0 X X - X | ALARM | ALARM | ALARM | ALARM",
		"3/3 | - - X - - | ALARM | keep | ALARM | OK",
		"2/3 | 0 - X - X | ALARM | ALARM | ALARM | ALARM",
		"2/3 | 0 0 X 0 X | ALARM | ALARM | ALARM | ALARM",
		"2/3 | 0 - X - - | OK | OK | ALARM | OK",
		"2/3 | - - - - 0 | OK | OK | ALARM | OK",
		"2/3 | - - - X - | ALARM | keep | ALARM | OK",
		// One breach that is too recent to decide: the alarm waits.
		"3/3 | - - - X - | keep | keep | ALARM | OK",
		"3/3 | - - - - X | keep | keep | ALARM | OK",
		"2/3 | - - - - X | keep | keep | ALARM | OK",
		// For a single period the alarm also looks a little further back.
		"1/1 | X - - | ALARM | ALARM | ALARM | ALARM",
		"1/1 | X 0 - | OK | OK | OK | OK",
		"1/1 | - - - | INSUFFICIENT_DATA | keep | ALARM | OK",
	} {
		f := strings.Split(line, " | ")
		var m, n int
		if _, err := fmt.Sscanf(f[0], "%d/%d", &m, &n); err != nil {
			t.Fatal(err)
		}
		for i, missing := range []alarm.Missing{alarm.AsMissing, alarm.Ignored, alarm.Breaching, alarm.NotBreaching} {
			for _, state := range []alarm.State{alarm.OK, alarm.Alarm, alarm.Insufficient} {
				want := alarm.State(f[2+i])
				if want == "keep" {
					want = state
				}
				r := rule(m, n, missing)
				if len(strings.Fields(f[1])) != r.Range() {
					t.Fatalf("%s: the range is %d", line, r.Range())
				}
				got := alarm.Evaluate(r, points(f[1]), now, state)
				if got.State != want || (got.Reason != "") != (want != state) || (got.Data != "") != (want != state) {
					t.Errorf("%s, %s, from %s: %+v", line, missing, state, got)
				}
			}
		}
	}
}

func TestReasons(t *testing.T) {
	t.Parallel()
	f := func(r *alarm.Rule, text string, state alarm.State, want string) {
		t.Helper()
		if got := alarm.Evaluate(r, points(text), now, state); got.Reason != want {
			t.Errorf("%s: %s, want %s", text, got.Reason, want)
		}
	}
	counted := func(m, n int, missing alarm.Missing) *alarm.Rule {
		r := rule(m, n, missing)
		r.Counted = true
		return r
	}
	const five = "The most recent datapoints which crossed the threshold: [21.5 (21/11/26 01:06:00), 21.5 (21/11/26 01:05:00), " +
		"21.5 (21/11/26 01:04:00), 21.5 (21/11/26 01:03:00), 21.5 (21/11/26 01:02:00)]"
	// The number of datapoints to alarm was not set.
	f(rule(1, 1, alarm.AsMissing), "X", alarm.OK,
		"Threshold Crossed: 1 datapoint [21.5 (21/11/26 01:06:00)] was greater than the threshold (21.0).")
	f(rule(1, 1, alarm.AsMissing), "0", alarm.Alarm,
		"Threshold Crossed: 1 datapoint [0.0 (21/11/26 01:06:00)] was not greater than the threshold (21.0).")
	f(rule(2, 2, alarm.AsMissing), "X X", alarm.OK,
		"Threshold Crossed: 2 datapoints [21.5 (21/11/26 01:06:00), 21.5 (21/11/26 01:05:00)] "+
			"were greater than the threshold (21.0).")
	f(rule(3, 3, alarm.AsMissing), "X 0 X", alarm.Alarm,
		"Threshold Crossed: 1 datapoint [0.0 (21/11/26 01:05:00)] was not greater than the threshold (21.0).")
	f(rule(6, 6, alarm.AsMissing), "X X X X X X", alarm.OK,
		"Threshold Crossed: 6 datapoints were greater than the threshold (21.0). "+five+".")
	// It was set.
	f(counted(1, 1, alarm.AsMissing), "X", alarm.OK,
		"Threshold Crossed: 1 out of the last 1 datapoints [21.5 (21/11/26 01:06:00)] "+
			"was greater than the threshold (21.0) (minimum 1 datapoint for OK -> ALARM transition).")
	f(counted(2, 3, alarm.AsMissing), "X 0 X", alarm.OK,
		"Threshold Crossed: 2 out of the last 3 datapoints [21.5 (21/11/26 01:06:00), 21.5 (21/11/26 01:04:00)] "+
			"were greater than the threshold (21.0) (minimum 2 datapoints for OK -> ALARM transition).")
	f(counted(3, 3, alarm.AsMissing), "X 0 X", alarm.Alarm,
		"Threshold Crossed: 1 out of the last 3 datapoints [0.0 (21/11/26 01:05:00)] "+
			"was not greater than the threshold (21.0) (minimum 1 datapoint for ALARM -> OK transition).")
	f(counted(5, 5, alarm.AsMissing), "X X X X X", alarm.OK,
		"Threshold Crossed: 5 out of the last 5 datapoints were greater than the threshold (21.0). "+five+
			" (minimum 5 datapoints for OK -> ALARM transition).")
	// Datapoints are missing.
	f(rule(2, 2, alarm.Breaching), "- -", alarm.OK,
		"Threshold Crossed: no datapoints were received for 2 periods and 2 missing datapoints were treated as [Breaching].")
	f(rule(2, 2, alarm.NotBreaching), "- -", alarm.Alarm,
		"Threshold Crossed: no datapoints were received for 2 periods and 2 missing datapoints were treated as [NonBreaching].")
	f(rule(1, 1, alarm.Breaching), "-", alarm.OK,
		"Threshold Crossed: no datapoints were received for 1 period and 1 missing datapoint was treated as [Breaching].")
	f(counted(2, 3, alarm.Breaching), "0 - -", alarm.OK,
		"Threshold Crossed: 1 datapoint was received for 3 periods and 2 missing datapoints were treated as [Breaching].")
	f(counted(2, 2, alarm.Breaching), "X -", alarm.OK,
		"Threshold Crossed: 1 out of the last 2 datapoints [21.5 (21/11/26 01:05:00)] "+
			"was greater than the threshold (21.0) and 1 missing datapoint was treated as [Breaching] (minimum 2 datapoints for OK -> ALARM transition).")
	f(rule(3, 3, alarm.AsMissing), "", alarm.OK, "Insufficient Data: 3 datapoints were unknown.")
	f(rule(1, 1, alarm.AsMissing), "", alarm.OK, "Insufficient Data: 1 datapoint was unknown.")
}

// A reason is short, for any number of periods.
func TestReasonsAreBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []alarm.Comparison{alarm.Greater, alarm.Outside} {
		r, p := rule(1440, 1440, alarm.AsMissing), points(strings.Repeat("X ", 1440))
		r.Comparison = c
		for i := range p {
			p[i].Value = 1.2345678901234567e+300
			if c == alarm.Outside {
				p[i].Value, p[i].Band = -1.2345678901234567e+300,
					&alarm.Band{Low: -1.2345678901234567e-300, High: -1e-300}
			}
		}
		got := alarm.Evaluate(r, p, now, alarm.OK)
		if got.State != alarm.Alarm || len(got.Reason) > 1023 || len(got.Data) > 4000 {
			t.Errorf("%s: %d characters, %d of data", c, len(got.Reason), len(got.Data))
		}
	}
}

func TestReasonData(t *testing.T) {
	t.Parallel()
	got := alarm.Evaluate(rule(2, 2, alarm.AsMissing), points("X X"), now, alarm.OK)
	const want = `{"version":"1.0","queryDate":"2026-11-21T01:07:12.345+0000","startDate":"2026-11-21T01:05:00.000+0000","statistic":"Average",` +
		`"period":60,"recentDatapoints":[21.5,21.5],"threshold":21.0,"evaluatedDatapoints":[` +
		`{"timestamp":"2026-11-21T01:06:00.000+0000","sampleCount":2.0,"value":21.5},{"timestamp":"2026-11-21T01:05:00.000+0000","sampleCount":2.0,"value":21.5}]}`
	if got.Data != want || !json.Valid([]byte(got.Data)) {
		t.Errorf("got %s", got.Data)
	}
}

// The results of queries have no sample counts, and all recent datapoints are listed.
func TestReasonDataOfQueries(t *testing.T) {
	t.Parallel()
	r := rule(1, 12, alarm.AsMissing)
	r.Computed, r.Statistic = true, ""
	got := alarm.Evaluate(r, points("0 0 0 0 0 0 0 0 0 0 0 X"), now, alarm.OK)
	const want = `{"version":"1.0","queryDate":"2026-11-21T01:07:12.345+0000","startDate":"2026-11-21T00:55:00.000+0000",` +
		`"period":60,"recentDatapoints":[0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,21.5],"threshold":21.0,` +
		`"evaluatedDatapoints":[{"timestamp":"2026-11-21T01:06:00.000+0000","value":21.5}]}`
	if got.Data != want {
		t.Errorf("got %s", got.Data)
	}
}

// A reason shows the edges of the bands of datapoints, on the sides that the comparison looks at.
func TestBandReasons(t *testing.T) {
	t.Parallel()
	const at = " (21/11/26 01:06:00)"
	for _, c := range []struct {
		comparison alarm.Comparison
		value      float64
		want       string
	}{
		{alarm.Outside, 3, "was less than the lower thresholds [5.0] or greater than the upper thresholds [9.0]"},
		{alarm.Outside, 7,
			"was not less than the lower thresholds [5.0] or not greater than the upper thresholds [9.0]"},
		{alarm.Below, 7, "was not less than the lower thresholds [5.0]"},
		{alarm.Above, 10, "was greater than the upper thresholds [9.0]"},
	} {
		r, p := rule(1, 1, alarm.AsMissing), points("X")
		r.Comparison, p[0].Value, p[0].Band = c.comparison, c.value, &alarm.Band{Low: 5, High: 9}
		got := alarm.Evaluate(r, p, now, alarm.Insufficient).Reason
		if want := "Thresholds Crossed: 1 datapoint [" + alarm.JavaDouble(c.value) + at + "] " + c.want +
			"."; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// When many datapoints are outside a band, the reason shows the newest after the text about its edges.
func TestManyBeyondBand(t *testing.T) {
	t.Parallel()
	r, p := rule(6, 7, alarm.AsMissing), points("X X X X X X X")
	r.Comparison, r.Counted = alarm.Outside, true
	for i := range p {
		p[i].Band = &alarm.Band{Low: 5, High: 9}
	}
	got := alarm.Evaluate(r, p, now, alarm.OK).Reason
	const want = "Thresholds Crossed: 7 out of the last 7 datapoints were less than the lower thresholds or greater than " +
		"the upper thresholds. Recent datapoints [21.5 (21/11/26 01:06:00), 21.5 (21/11/26 01:05:00), " +
		"21.5 (21/11/26 01:04:00), 21.5 (21/11/26 01:03:00), 21.5 (21/11/26 01:02:00)] crossed the lower thresholds " +
		"[5.0, 5.0, 5.0, 5.0, 5.0] or upper thresholds [9.0, 9.0, 9.0, 9.0, 9.0] " +
		"(minimum 6 datapoints for OK -> ALARM transition)."
	if got != want {
		t.Errorf("got %s", got)
	}
}

func TestComparisons(t *testing.T) {
	t.Parallel()
	for c, want := range map[alarm.Comparison]string{
		alarm.Greater: "0 0 1", alarm.GreaterOrEqual: "0 1 1", alarm.Less: "1 0 0", alarm.LessOrEqual: "1 1 0",
	} {
		var got []string
		for _, v := range []float64{20, 21, 22} {
			r := rule(1, 1, alarm.AsMissing)
			r.Comparison = c
			d := alarm.Evaluate(r, []alarm.Datapoint{{Time: now.Add(-time.Minute), Value: v}}, now, alarm.Insufficient)
			got = append(got, map[alarm.State]string{alarm.OK: "0", alarm.Alarm: "1"}[d.State])
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %s, want %s", c, s, want)
		}
	}
}

func TestWindow(t *testing.T) {
	t.Parallel()
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Skip("there is no time zone database")
	}
	for _, c := range []struct {
		period   time.Duration
		location *time.Location
		want     string
	}{
		{5 * time.Minute, nil, "2026-11-21T00:52:00Z 2026-11-21T01:07:00Z"},
		{5 * time.Minute, time.UTC, "2026-11-21T00:50:00Z 2026-11-21T01:05:00Z"},
		{time.Hour, time.FixedZone("", 5*3600+1800), "2026-11-20T21:30:00Z 2026-11-21T00:30:00Z"},
		{24 * time.Hour, newYork, "2026-11-17T05:00:00Z 2026-11-20T05:00:00Z"},
		{7 * 24 * time.Hour, time.UTC, "2026-10-26T00:00:00Z 2026-11-16T00:00:00Z"},
	} {
		r := rule(1, 1, alarm.AsMissing)
		r.Period, r.Location = c.period, c.location
		from, to := r.Window(now)
		if got := from.Format(time.RFC3339) + " " + to.Format(time.RFC3339); got != c.want {
			t.Errorf("%s in %v: %s, want %s", c.period, c.location, got, c.want)
		}
	}
}

// A day by the clock lasts from its first instant to the next day's, even when the clock changes.
func TestDaylightSaving(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		zone, now string
		period    time.Duration
		want      string // the beginnings of all periods, and the end
	}{
		{"America/New_York", "2026-03-10T12:00:00Z", 24 * time.Hour, "03-07T05 03-08T05 03-09T04 03-10T04"},
		{"America/New_York", "2026-11-03T12:00:00Z", 24 * time.Hour, "10-31T04 11-01T04 11-02T05 11-03T05"},
		{"America/New_York", "2026-03-17T12:00:00Z", 7 * 24 * time.Hour, "02-23T05 03-02T05 03-09T04 03-16T04"},
		{"America/New_York", "2026-11-03T12:00:00Z", 7 * 24 * time.Hour, "10-12T04 10-19T04 10-26T04 11-02T05"},
		{"Europe/Berlin", "2026-03-29T21:59:00Z", 24 * time.Hour, "03-25T23 03-26T23 03-27T23 03-28T23"},
		{"Europe/Berlin", "2026-03-29T22:00:00Z", 24 * time.Hour, "03-26T23 03-27T23 03-28T23 03-29T22"},
		// without a midnight on the 6th
		{"America/Santiago", "2026-09-07T12:00:00Z", 24 * time.Hour, "09-04T04 09-05T04 09-06T04 09-07T03"},
		// with two on the 25th
		{"Atlantic/Azores", "2026-10-26T12:00:00Z", 24 * time.Hour, "10-23T00 10-24T00 10-25T00 10-26T01"},
	} {
		location, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Skip("there is no time zone database")
		}
		at, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		r := rule(1, 1, alarm.AsMissing)
		r.Period, r.Location = c.period, location
		from, to := r.Window(at)
		var got []string
		for n := range r.Range() + 1 {
			got = append(got, r.Step(from, n).Format("01-02T15"))
		}
		if strings.Join(got, " ") != c.want || !r.Step(from, r.Range()).Equal(to) {
			t.Errorf("%s, %s: %v, want %s", c.zone, c.now, got, c.want)
		}
	}
}

// A day of 23 hours is a whole period: two days after a breach began, an alarm on two of three days does not wait for
// more.
func TestShortDay(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("there is no time zone database")
	}
	r := rule(2, 3, alarm.AsMissing)
	r.Period, r.Location = 24*time.Hour, berlin
	began, evaluated := time.Date(2026, 3, 28, 0, 0, 0, 0, berlin), time.Date(2026, 3, 30, 0, 1, 0, 0, berlin)
	d := alarm.Evaluate(r, []alarm.Datapoint{{Time: began.UTC(), Count: 1, Value: r.Threshold + 1}}, evaluated,
		alarm.OK)
	if d.State != alarm.Alarm {
		t.Errorf("the state is %s", d.State)
	}
}

// The data about a decision lists as many periods as the decision needs, newest first; a period without a datapoint has
// only its time. If other datapoints decide, missing ones are omitted.
func TestEvaluatedDatapoints(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ofTwo   int // it takes for ALARM
		missing alarm.Missing
		points  string
		want    string
	}{
		{2, alarm.Breaching, "- -", "01:06 01:05"},
		{2, alarm.NotBreaching, "- -", "01:06"},
		{2, alarm.AsMissing, "- -", "01:06 01:05"},
		{2, alarm.Breaching, "X -", "01:06 01:05=21.5"},
		{2, alarm.Breaching, "- X", "01:06=21.5 01:05"},
		{2, alarm.Breaching, "0 X", "01:05=0"},
		{2, alarm.NotBreaching, "X - -", "01:06"},
		{2, alarm.AsMissing, "0 0", "01:06=0"},
		{2, alarm.AsMissing, "X X", "01:06=21.5 01:05=21.5"},
		{1, alarm.AsMissing, "0 0", "01:06=0 01:05=0"},
		{1, alarm.AsMissing, "X 0", "01:05=21.5"},
		{1, alarm.AsMissing, "X -", "01:05=21.5"},
		{1, alarm.NotBreaching, "X - -", "01:04=21.5"},
	} {
		d := alarm.Evaluate(rule(c.ofTwo, 2, c.missing), points(c.points), now, "another")
		var data struct {
			Evaluated []struct {
				Timestamp          string
				SampleCount, Value *float64
			} `json:"evaluatedDatapoints"`
		}
		if err := json.Unmarshal([]byte(d.Data), &data); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range data.Evaluated {
			one := e.Timestamp[11:16]
			if e.Value != nil && e.SampleCount != nil {
				one += fmt.Sprintf("=%v", *e.Value)
			}
			got = append(got, one)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%d of %q, %s: %v, want %s", c.ofTwo, c.points, c.missing, got, c.want)
		}
	}
}

// An alarm does not decide while it warms up.
func TestWarmUp(t *testing.T) {
	t.Parallel()
	f := func(until time.Duration, fully bool, text string, want alarm.State) {
		t.Helper()
		r := rule(2, 2, alarm.Breaching)
		r.WarmUp, r.WaitFully = now.Add(until), fully
		if got := alarm.Evaluate(r, points(text), now, alarm.Insufficient); got.State != want {
			t.Errorf("%s, %v, %q: %s, want %s", until, fully, text, got.State, want)
		}
	}
	f(time.Minute, false, "X", alarm.Insufficient)
	f(time.Minute, false, "X X", alarm.Alarm)
	f(time.Minute, true, "X X", alarm.Insufficient)
	f(0, true, "X", alarm.Alarm)
	r := rule(1, 1, alarm.AsMissing)
	r.WarmUp = now.Add(time.Minute)
	if got := alarm.Evaluate(r, nil, now, alarm.Alarm); got.State != alarm.Insufficient ||
		!strings.Contains(got.Reason, "warm-up") {
		t.Errorf("from ALARM: %+v", got)
	}
}

func TestJavaDouble(t *testing.T) {
	t.Parallel()
	for n, want := range map[float64]string{
		0: "0.0", 21: "21.0", -1.5: "-1.5", 0.001: "0.001", 0.0001: "1.0E-4", 9999999: "9999999.0", 1e7: "1.0E7",
		1.25e300: "1.25E300", 123456789: "1.23456789E8",
		math.Inf(1): "Infinity", math.Inf(-1): "-Infinity",
	} {
		if got := alarm.JavaDouble(n); got != want {
			t.Errorf("%v is %s, want %s", n, got, want)
		}
	}
}

// FuzzEvaluate checks that a decision has a reason exactly when it changes the state, that both are short, and that an
// alarm in the resulting state decides the same again.
func FuzzEvaluate(f *testing.F) {
	f.Add(uint8(3), uint8(2), uint8(0), uint8(0), "0-X-X")
	f.Fuzz(func(t *testing.T, n, m, missing, state uint8, text string) {
		r := rule(1, 1+int(n)%10,
			[]alarm.Missing{alarm.AsMissing, alarm.Ignored, alarm.Breaching, alarm.NotBreaching}[missing%4])
		r.ToAlarm = 1 + int(m)%r.Periods
		text = text[max(0, len(text)-r.Range()):]
		all := points(strings.Join(strings.Split(text, ""), " "))
		was := []alarm.State{alarm.OK, alarm.Alarm, alarm.Insufficient}[state%3]
		d := alarm.Evaluate(r, all, now, was)
		if (d.State == was) != (d.Reason == "") || len(d.Reason) > 1023 || len(d.Data) > 4000 {
			t.Fatalf("%q: %+v", text, d)
		}
		if again := alarm.Evaluate(r, all, now, d.State); again.State != d.State {
			t.Fatalf("%q: %+v, then %+v", text, d, again)
		}
	})
}
