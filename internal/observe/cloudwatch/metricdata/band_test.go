package metricdata_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricdata"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// rhythm has a metric with a daily rhythm: 100 at noon, plus or minus 10, and 0 at night.
func rhythm(days int) *metricdata.Source {
	m := new(series.Memory)
	for d := range days {
		for minute := -60; minute <= 60; minute += 5 {
			noon := now.Truncate(time.Hour).AddDate(0, 0, -d-1).Add(time.Duration(minute) * time.Minute)
			m.Add(id("NumberOfMessagesSent", "a"), series.Sample(noon, float64(90+10*(d%3))))
			m.Add(id("NumberOfMessagesSent", "a"), series.Sample(noon.Add(-12*time.Hour), 0))
		}
	}
	return &metricdata.Source{Reader: m, Levels: series.Default, Now: now}
}

// The band at each time follows from the values at that time of the previous days.
func TestBand(t *testing.T) {
	t.Parallel()
	run := func(days int, end time.Time, text string) string {
		t.Helper()
		metric := stat("m", "NumberOfMessagesSent", "a", "Sum", 5*time.Minute)
		metric.Return = false
		plan, err := metricdata.Check([]metricdata.Query{expression("e", text, 0), metric})
		if err != nil {
			t.Fatal(err)
		}
		results, err := plan.Run(context.Background(), rhythm(days), scope, end.Add(-10*time.Minute), end)
		if err != nil {
			t.Fatal(err)
		}
		return show(results)
	}
	noon := now.Truncate(time.Hour)
	const low, high = "e=lower:70.348,70.348", "e=upper:129.652,129.652"
	if got := run(14, noon, "ANOMALY_DETECTION_BAND(m)"); got != low+" "+high {
		t.Errorf("at noon: %s", got)
	}
	if got := run(14, noon, "ANOMALY_DETECTION_BAND(m, 1)"); got != "e=lower:85.174,85.174 e=upper:114.826,114.826" {
		t.Errorf("a narrower one: %s", got)
	}
	if got := run(14, noon.Add(-12*time.Hour), "ANOMALY_DETECTION_BAND(m)"); got != "e=lower:0,0 e=upper:0,0" {
		t.Errorf("at night: %s", got)
	}
	if got := run(14, noon.Add(-6*time.Hour), "ANOMALY_DETECTION_BAND(m)"); got != "e=lower: e=upper:" {
		t.Errorf("where there were no values: %s", got)
	}
	if got := run(14, noon, "FIRST(ANOMALY_DETECTION_BAND(m)) + 1"); got != "e=e:71.348,71.348" {
		t.Errorf("in an expression: %s", got)
	}
	if got := run(0, noon, "ANOMALY_DETECTION_BAND(m)"); got != "e=lower: e=upper:" {
		t.Errorf("without a day before: %s", got)
	}
}

func TestBandsThatAreRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"ANOMALY_DETECTION_BAND(n)":        `there is no metric with the id "n"`,
		"ANOMALY_DETECTION_BAND(x)":        "ANOMALY_DETECTION_BAND takes the id of a metric, not of an expression",
		"ANOMALY_DETECTION_BAND(m / 2)":    `expected ")"`,
		"ANOMALY_DETECTION_BAND(2)":        "ANOMALY_DETECTION_BAND takes the id of a metric, not",
		"ANOMALY_DETECTION_BAND(m, 0)":     "expected a width of the band above 0 and up to 1000",
		"ANOMALY_DETECTION_BAND(m, 2, 60)": `expected ")"`,
	} {
		_, err := metricdata.Check([]metricdata.Query{
			expression("e", text, 0), expression("x", "m * 2", 0),
			stat("m", "NumberOfMessagesSent", "a", "Sum", 5*time.Minute),
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// Times that a detector excludes do not affect the band, and the time of day follows its time zone.
func TestTraining(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	// Each day at noon in Berlin the metric is 100, up to the day after the end of summer time.
	m := new(series.Memory)
	last := time.Date(2026, 10, 26, 12, 0, 0, 0, berlin)
	for d := 1; d <= 14; d++ {
		for minute := -60; minute <= 60; minute += 5 {
			at := last.AddDate(0, 0, -d).Add(time.Duration(minute) * time.Minute)
			value := 0.0
			if minute >= -30 && minute <= 30 {
				value = 100
			}
			if d <= 9 {
				value *= 2 // for example a campaign
			}
			m.Add(id("NumberOfMessagesSent", "a"), series.Sample(at.UTC(), value))
		}
	}
	campaign := metricdata.Range{From: last.AddDate(0, 0, -10).Add(6 * time.Hour), To: last}
	for name, c := range map[string]struct {
		training *metricdata.Training
		want     string
	}{
		"none": {nil, "lower -113.3 upper 113.3"},
		"zone": {&metricdata.Training{Location: berlin}, "lower 110.5 upper 289.5"},
		"excluded": {&metricdata.Training{Location: berlin, Excluded: []metricdata.Range{campaign}},
			"lower 98.0 upper 102.0"},
	} {
		src := &metricdata.Source{Reader: m, Levels: series.Default, Now: last.Add(time.Hour).UTC()}
		if c.training != nil {
			src.Training = func(s series.Scope, of *metricdata.Stat) metricdata.Training {
				if s != scope || of.Metric != "NumberOfMessagesSent" {
					t.Errorf("%v %+v is requested", s, of)
				}
				return *c.training
			}
		}
		metric := stat("m", "NumberOfMessagesSent", "a", "Sum", 5*time.Minute)
		metric.Return = false
		plan, err := metricdata.Check([]metricdata.Query{expression("e", "ANOMALY_DETECTION_BAND(m)", 0), metric})
		if err != nil {
			t.Fatal(err)
		}
		results, err := plan.Run(context.Background(), src, scope, last.UTC(), last.Add(5*time.Minute).UTC())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range results {
			got = append(got, fmt.Sprintf("%s %.1f", r.Label, r.Points[0].Value))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
