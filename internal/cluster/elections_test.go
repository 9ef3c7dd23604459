package cluster

import (
	"testing"
	"testing/synctest"
	"time"
)

// The engine treats a node as dead when all other present nodes say so, and they are a majority.
func TestElectionsTakeAgreement(t *testing.T) {
	for what, c := range map[string]struct {
		b    heartbeat // of the other node, when c is silent
		dead bool
	}{
		"b does not hear of c either":  {heartbeat{Failover: time.Second, Silent: []string{"c"}}, true},
		"b hears of c":                 {heartbeat{Failover: time.Second}, false},
		"b is older, and says nothing": {heartbeat{}, false},
		"b is silent, too":             {heartbeat{Node: "nobody"}, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			a := meet(t, "a", "b", "c")["a"]
			e := &elections{common: a.common, members: a}
			a.record(heartbeat{Node: "c", Incarnation: "7"})
			time.Sleep(usual.silence)
			a.record(a.self())
			if c.b.Node == "" {
				c.b.Node, c.b.Incarnation = "b", "1"
				a.record(c.b)
			}
			if dead := e.gone(); dead["c-7"] != c.dead || len(dead) > 1 {
				t.Errorf("%s: dead are %v", what, dead)
			}
		})
	}
}

// A process that was paused gives the others time to send a message.
func TestPauseIsNoSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newView(usual.silence)
		v.record(heartbeat{Node: "b", Incarnation: "1"}, time.Now())
		time.Sleep(usual.silence)
		v.forgive(usual.silence)
		if v.isSilent("b") {
			t.Error("a node is dead because this one was paused")
		}
		time.Sleep(usual.silence)
		if !v.isSilent("b") {
			t.Error("it is not dead afterwards")
		}
	})
}
