package cluster

import (
	"errors"
	"testing"
	"time"
)

// usual are the default times of a cluster.
var usual = timingOf(DefaultFailover)

// For every timeout, the times keep the order that the cluster relies on.
func TestTimesKeepTheirOrder(t *testing.T) {
	for failover := MinFailover; failover <= MaxFailover; failover += 50 * time.Millisecond {
		is := timingOf(failover)
		for what, ok := range map[string]bool{
			"requests fail before a lease ends":              is.silence < is.lease,
			"a log has a leader before its shard is taken":   is.silence+2*is.step <= is.lease,
			"four heartbeats may be late":                    4*is.heartbeat <= is.silence,
			"a lease is renewed twice before it ends":        is.lease/3*2 < is.lease-is.lease/5,
			"an owner trusts its lease for half of it":       is.lease-is.lease/5-is.lease/3 >= is.lease*2/5,
			"requests fail before their node counts as dead": is.stall < is.silence,
			"the first in line is done before the second":    is.step >= 75*time.Millisecond,
			"the lease ends, and a node takes the shard":     is.lease+2*is.step < is.failover,
			"a list is younger than a heartbeat":             is.listAge < is.heartbeat || is.heartbeat == time.Second,
			"a cut-off node knows that it is":                is.isolated >= is.silence,
			"a request outlives a short failover": failover > 2500*time.Millisecond ||
				is.forward > is.failover,
		} {
			if !ok {
				t.Errorf("with a failover timeout of %s this does not hold: %s: %+v", failover, what, is)
			}
		}
	}
}

func TestFailoverTimeoutHasBounds(t *testing.T) {
	for d, good := range map[time.Duration]bool{
		0: false, MinFailover - 1: false, MinFailover: true, DefaultFailover: true, ExternalFailover: true,
		MaxFailover: true, MaxFailover + 1: false,
	} {
		if err := CheckFailover(d); (err == nil) != good || err != nil && !errors.Is(err, ErrFailover) {
			t.Errorf("%s: %v", d, err)
		}
	}
}

// With external servers, nodes use the times that fit the elections of those servers.
func TestExternalTimes(t *testing.T) {
	is := timingOf(ExternalFailover)
	for what, d := range map[string][2]time.Duration{
		"lease": {is.lease, 5 * time.Second}, "silence": {is.silence, 4 * time.Second},
		"step": {is.step, 500 * time.Millisecond}, "stall": {is.stall, 3 * time.Second},
	} {
		if (d[0] - d[1]).Abs() > time.Millisecond {
			t.Errorf("%s is %s, want %s", what, d[0], d[1])
		}
	}
}
