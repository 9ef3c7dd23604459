//go:build !race

// In real time a busy machine takes fewer turns than are due; the counts here are exact only in a bubble.

package cluster_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/cluster"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/tenant"
)

// tenants are the limits as the nodes of a world know them.
type tenants map[string]*atomic.Pointer[tenant.Tenants]

// inTenants opens the limits on each node of a world, as a server would.
func (w *world) inTenants(stored map[string]tenant.Amount) tenants {
	all := tenants{"a": {}, "b": {}, "c": {}}
	w.options = func(o *cluster.Options) {
		mine := all[o.Name]
		o.Tell = func() json.RawMessage { return mine.Load().Tell() }
		o.Hear = func(node string, told json.RawMessage) {
			if t := mine.Load(); t != nil {
				if err := t.Hear(node, told); err != nil {
					w.t.Error(err)
				}
			}
		}
	}
	w.opening = func(name string, n *cluster.Node) error {
		t, err := tenant.Open(tenant.Options{Control: n.Control(),
			Stored: func(context.Context, map[string]bool) (map[string]tenant.Amount, error) {
				return map[string]tenant.Amount{"111111111111": stored[name]}, nil
			}})
		all[name].Store(t)
		if err == nil {
			w.ending.Go(func() { t.Run(w.life) })
		}
		return err
	}
	return all
}

// set sets limits of an account, and waits until all nodes know them.
func (all tenants) set(w *world, limits tenant.Limits) {
	w.t.Helper()
	subject := tenant.Subject{Account: "111111111111"}
	w.does(func() error {
		_, err := all[w.controlOwner()].Load().Set(context.Background(), subject, limits)
		if errors.Is(err, control.ErrUnavailable) {
			return nil // the next check shows whether it was made
		}
		return err
	})
	w.eventually("all nodes know the limits", func() bool {
		for _, t := range all {
			if len(t.Load().Limits(subject)) != len(limits) {
				return false
			}
		}
		return true
	})
}

// A rate holds for all nodes together, to within the amount that each can admit until the next heartbeat. All of it is
// used, wherever the clients are. No request changes the control store.
func TestRateOfAllNodes(t *testing.T) {
	inWorld(t, func(w *world) {
		const limit, step = 100, 10 * time.Millisecond
		all := w.inTenants(nil)
		w.start("a", "b", "c")
		w.settled("a", "b", "c")
		all.set(w, tenant.Limits{tenant.Sends: limit})
		before := w.at("a").node.Position()
		caller := tenant.Subject{Account: "111111111111"}
		taken, lowest, beyond, began := 0.0, math.Inf(1), 0.0, time.Now()
		spell := func(seconds int, ask map[string]int) (given int) {
			for range seconds * int(time.Second/step) {
				for name, n := range ask {
					for range n {
						if all[name].Load().Take(caller, tenant.Sends, 1) != nil {
							break
						}
						given++
						due := limit * time.Since(began).Seconds()
						lowest = min(lowest, taken-due)
						taken++
						beyond = max(beyond, taken-due-lowest)
					}
				}
				time.Sleep(step)
			}
			return given
		}
		for _, ask := range []map[string]int{{"a": 5, "b": 5, "c": 5}, {"a": 5}, {"b": 1, "c": 9}, {"c": 2}} {
			spell(4, ask)
			// In real time each step takes longer on a busy machine.
			if given := spell(10, ask); given < 10*limit*9/10 || float64(given) > 10*limit*1.15*float64(slack) {
				t.Errorf("%v: %d are admitted in 10 s at a limit of %d a second", ask, given, limit)
			}
		}
		if most := 2 * 3 * limit * float64(slack); beyond > most {
			t.Errorf("%v were admitted beyond the limit, at most %v allowed", beyond, most)
		}
		if after := w.at("a").node.Position(); after > before+10 {
			t.Errorf("the control log has grown from %d to %d", before, after)
		}
	})
}

// Bytes stored and requests under way on other nodes count from the next heartbeat on; those of a dead node do not.
func TestStoredOnAllNodes(t *testing.T) {
	inWorld(t, func(w *world) {
		all := w.inTenants(map[string]tenant.Amount{"a": {Messages: 1}, "b": {Messages: 2}, "c": {Messages: 4}})
		w.start("a", "b", "c")
		w.settled("a", "b", "c")
		all.set(w, tenant.Limits{tenant.Messages: 8, tenant.Requests: 2})
		w.pause(12 * time.Second)
		for name, n := range all {
			used := n.Load().Usage(tenant.Subject{Account: "111111111111"}).Used
			if used[tenant.Messages] != 7 {
				t.Errorf("according to %s, %v messages are stored", name, used[tenant.Messages])
			}
			if _, err := n.Load().Store(context.Background(), "111111111111", tenant.Amount{Messages: 2}); err == nil {
				t.Errorf("%s admits more than there is room for", name)
			}
		}
		caller := tenant.Subject{Account: "111111111111"}
		for _, name := range []string{"a", "b"} {
			if _, err := all[name].Load().Enter(caller); err != nil {
				t.Error(err)
			}
		}
		w.eventually("c knows of the requests at a and b", func() bool {
			return all["c"].Load().Usage(caller).Used[tenant.Requests] == 2
		})
		if _, err := all["c"].Load().Enter(caller); err == nil {
			t.Error("c admits a third request")
		}
		w.kill("b")
		w.eventually("b's use no longer counts", func() bool {
			used := all["c"].Load().Usage(caller).Used
			return used[tenant.Requests] == 1 && used[tenant.Messages] == 5
		})
	})
}
