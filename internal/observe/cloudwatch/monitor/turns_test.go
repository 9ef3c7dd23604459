package monitor

import (
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// The alarms of an account that has many do not come before those of one that has few.
func TestAlarmsTakeTurns(t *testing.T) {
	t.Parallel()
	var alarms []*Alarm
	for _, name := range []string{"a1", "a2", "a3", "b1", "b2", "c1"} {
		alarms = append(alarms, &Alarm{Name: Name{Scope: series.Scope{Account: name[:1]}, Name: name}})
	}
	var got []string
	for _, a := range byTurns(alarms) {
		got = append(got, a.Name.Name)
	}
	if got := strings.Join(got, " "); got != "a1 b1 c1 a2 b2 a3" {
		t.Errorf("the order is %s", got)
	}
}
