package monitor_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// flood adds items to the history of a scope, one each millisecond from a given time.
func (r *rig) flood(s series.Scope, from time.Time, n int) {
	r.Helper()
	const atOnce = 1000
	for i := 0; i < n; i += atOnce {
		r.change(func(tx *monitor.Tx) error {
			for j := i; j < min(n, i+atOnce); j++ {
				item := &monitor.Item{
					Alarm: "a", Kind: monitor.StateSet, Time: from.Add(time.Duration(j) * time.Millisecond),
					Summary: fmt.Sprint(j),
				}
				if err := tx.AddItem(s, item); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// history returns the keys of the history of a scope, oldest first.
func (r *rig) history(s series.Scope) []string {
	r.Helper()
	keys, err := r.HistoryKeys(context.Background(), monitor.HistoryFilter{Scope: s})
	if err != nil {
		r.Fatal(err)
	}
	return keys
}

// However fast history is written, its size is limited, and one account's history does not displace another's. This
// holds after a restart.
func TestHistoryIsBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	quiet := series.Scope{Account: "111122223333", Region: "us-east-1"}
	r.flood(quiet, start.Add(-time.Hour), 10)
	r.flood(scope, start, monitor.MaxItems+2500)
	check := func(oldest string) {
		t.Helper()
		keys := r.history(scope)
		first, err := r.Item(keys[0])
		if err != nil || len(keys) != monitor.MaxItems || first.Summary != oldest {
			t.Errorf("there are %d items, the oldest is %+v, error %v", len(keys), first, err)
		}
		if n := len(r.history(quiet)); n != 10 {
			t.Errorf("of the other account there are %d items", n)
		}
	}
	check("2500")
	r.flood(scope, start.Add(-time.Minute), 3) // by a clock that was set back: they are the oldest, and removed next
	check("0")
	r.restart()
	r.flood(scope, start.Add(time.Hour), 1500)
	check("4000")
}

// Clients can make up regions, but these do not raise an account's number of items without bound. The region with the
// most items loses some.
func TestHistoryOfAccountIsBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	quiet := series.Scope{Account: "111122223333", Region: "us-east-1"}
	r.flood(quiet, start, 10)
	regions := []series.Scope{scope}
	for _, name := range []string{"made-up-1", "made-up-2", "made-up-3"} {
		regions = append(regions, series.Scope{Account: scope.Account, Region: name})
	}
	for i, s := range regions {
		r.flood(s, start.Add(time.Duration(i)*time.Hour), monitor.MaxItems*3/4)
	}
	all := 0
	for _, s := range regions {
		n := len(r.history(s))
		if all += n; n == 0 {
			t.Errorf("nothing is left of %s", s.Region)
		}
	}
	if all != monitor.MaxAccountItems {
		t.Errorf("there are %d items", all)
	}
	if n := len(r.history(quiet)); n != 10 {
		t.Errorf("of the other account there are %d items", n)
	}
}

// One sweep removes all outdated items, however many there are.
func TestSweepOldHistory(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.flood(scope, start, 4500)
	now := start.Add(monitor.HistoryKept)
	r.flood(scope, now, 5)
	if err := r.Sweep(t.Context(), now.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if n := len(r.history(scope)); n != 5 {
		t.Errorf("items: %d", n)
	}
	r.flood(scope, now.Add(time.Second), monitor.MaxItems)
	if n := len(r.history(scope)); n != monitor.MaxItems {
		t.Errorf("items afterwards: %d", n)
	}
}
