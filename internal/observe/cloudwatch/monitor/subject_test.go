package monitor_test

import (
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/alarm"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
)

// Subjects and summaries have the name of an alarm as it is, and subjects the long name of its region.
func TestSubjects(t *testing.T) {
	t.Parallel()
	for region, name := range map[string]string{
		"us-east-1": "US East (N. Virginia)", "ap-east-2": "Asia Pacific (Taipei)",
		"ap-southeast-5": "Asia Pacific (Malaysia)", "ap-southeast-6": "Asia Pacific (New Zealand)",
		"ap-southeast-7": "Asia Pacific (Thailand)", "mx-central-1": "Mexico (Central)", "mars-1": "mars-1",
	} {
		r := newRig(t)
		a := backlog()
		a.Region, a.Name.Name = region, `the "blue" C:\queue é`
		r.change(func(tx *monitor.Tx) error { return tx.Create(a, start) })
		at := start.Add(time.Second)
		r.change(func(tx *monitor.Tx) error {
			return tx.Transition(r.Alarm(a.Name), alarm.Decision{State: alarm.Alarm, Reason: "x"}, at)
		})
		if err := r.evaluator.Deliver(t.Context(), at.Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		want := `ALARM: "the "blue" C:\queue é" in ` + name
		if told := r.topics.published; len(told) != 1 || told[0].subject != want {
			t.Errorf("told %+v, want %s", told, want)
		}
		keys, err := r.HistoryKeys(t.Context(), monitor.HistoryFilter{
			Scope: a.Scope, Types: monitor.AlarmTypes{Metric: true}, Kind: monitor.Configured,
		})
		if err != nil {
			t.Fatal(err)
		}
		if item, err := r.Item(keys[0]); err != nil || item.Summary != `Alarm "the "blue" C:\queue é" created` {
			t.Errorf("the summary is %+v, %v", item, err)
		}
	}
}
