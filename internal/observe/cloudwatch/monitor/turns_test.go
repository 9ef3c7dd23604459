package monitor

import (
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// The alarms of an account that has many do not precede those of one that has few.
func TestAlarmsTakeTurns(t *testing.T) {
	t.Parallel()
	var alarms []*Alarm
	for _, name := range []string{"a1", "a2", "a3", "b1", "b2", "c1"} {
		alarms = append(alarms, &Alarm{Name: Name{Scope: series.Scope{Account: name[:1]}, Name: name}})
	}
	var got []string
	waiting := newTurns(alarms, func() time.Duration { return 0 })
	for a, done := waiting.next(); a != nil; a, done = waiting.next() {
		got = append(got, a.Name.Name)
		done()
	}
	if got := strings.Join(got, " "); got != "a1 b1 c1 a2 b2 a3" {
		t.Errorf("the order is %s", got)
	}
}

// The account whose alarms take the most time waits, even during an evaluation.
func TestSlowAlarmsWait(t *testing.T) {
	t.Parallel()
	var alarms []*Alarm
	for _, name := range []string{"a1", "a2", "a3", "b1", "b2", "b3", "b4", "b5"} {
		alarms = append(alarms, &Alarm{Name: Name{Scope: series.Scope{Account: name[:1]}, Name: name}})
	}
	now := time.Duration(0)
	waiting := newTurns(alarms, func() time.Duration { return now })
	_, slow := waiting.next()
	now = 5
	for _, want := range []string{"b1", "b2", "b3", "b4", "a2", "b5", "a3"} {
		a, done := waiting.next()
		if a.Name.Name != want {
			t.Errorf("%s comes instead of %s", a.Name.Name, want)
		}
		now += 3
		done()
		if want == "b2" {
			slow()
		}
	}
}
