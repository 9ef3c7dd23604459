package monitor

import (
	"fmt"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// TestDueCostsAsMuchWithManyStaleAlarms has a chain of composite alarms, each above the one before it. An account may
// have thousands: finding the next ones holds the lock that all accounts need.
func TestDueCostsAsMuchWithManyStaleAlarms(t *testing.T) {
	cost := func(length int) float64 {
		c := chain(t, length)
		now := time.Now()
		for _, f := range c.unranked(now) {
			f.rankAs(rank(f.all), f.version)
		}
		c.due(now)
		return testing.AllocsPerRun(20, func() {
			if due := c.due(now); len(due) != 1 {
				t.Fatalf("%d alarms are due, want one of each rank", len(due))
			}
		})
	}
	few, many := cost(50), cost(2000)
	if many > few+2 {
		t.Errorf("with 2000 stale alarms, due allocates %.0f objects, with 50 only %.0f", many, few)
	}
}

func TestDueGoesUpwards(t *testing.T) {
	c := chain(t, 100)
	now := time.Now()
	if due := c.due(now); len(due) > 0 {
		t.Errorf("%v are due before their ranks are known", due)
	}
	for _, f := range c.unranked(now) {
		f.rankAs(rank(f.all), f.version)
	}
	for i := range 100 {
		if due := c.due(now); len(due) != 1 || due[0].Name != fmt.Sprint("a", i) {
			t.Fatalf("%v are due, want a%d", due, i)
		}
	}
	if due := c.due(now); len(due) > 0 || len(c.stale) > 0 {
		t.Errorf("%v are due, %d families are stale", due, len(c.stale))
	}
}

func TestRanksOfAChangedFamilyAreNotUsed(t *testing.T) {
	c := chain(t, 3)
	now := time.Now()
	families := c.unranked(now)
	addComposite(t, &c, "b", "ALARM(a2)")
	families[0].rankAs(rank(families[0].all), families[0].version)
	if due := c.due(now); len(due) > 0 {
		t.Errorf("%v are due by old ranks", due)
	}
}

// chain returns n composite alarms, each of which names the one before it.
func chain(t *testing.T, n int) composites {
	t.Helper()
	c := newComposites()
	for i := range n {
		addComposite(t, &c, fmt.Sprint("a", i), fmt.Sprintf("ALARM(a%d)", i-1))
	}
	return c
}

func addComposite(t *testing.T, c *composites, name, rule string) {
	t.Helper()
	in := series.Scope{Account: "111122223333", Region: "us-east-1"}
	parsed, err := NewComposite(in, rule)
	if err != nil {
		t.Fatal(err)
	}
	a := &Alarm{Name: Name{in, name}, Composite: parsed}
	c.replace(a.Name, nil, a)
}
