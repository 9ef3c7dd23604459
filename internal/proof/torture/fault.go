package torture

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/proof/history"
)

// fault is one disturbance with all its details.
type fault interface {
	String() string // the fault and its target
	inject(*cluster) error
	heal(*cluster) error
}

// lane is the part of the cluster that a fault acts on. Faults that overlap act on different lanes; see kind.lanes.
type lane int

const (
	processes lane = iota
	network
	doors // between clients and nodes
	disks
	clocks
)

// kind is a kind of fault.
type kind struct {
	name       string
	words      string // for people
	lane       lane
	least      time.Duration // how long it lasts
	most       time.Duration
	impossible func(*Config) string // why it is impossible here, or ""
	make       func(rng *rand.Rand, nodes int) fault
}

// lanes returns all lanes that a fault of this kind acts on. Some absences, and losses of power, kill their node.
// Another fault of processes must not start or kill that node meanwhile: two processes of one node cannot both listen.
func (k kind) lanes(f fault) []lane {
	switch f := f.(type) {
	case *absence:
		if f.dead {
			return []lane{k.lane, processes}
		}
	case *power:
		return []lane{k.lane, processes}
	}
	return []lane{k.lane}
}

// kinds are all kinds of faults.
var kinds = []kind{
	{
		name: "kill", words: "SIGKILL a node and start it again, sometimes killing it while it starts",
		lane: processes, least: 0, most: 10 * time.Second, impossible: possible,
		make: func(rng *rand.Rand, nodes int) fault {
			return &kill{nodes: []int{rng.IntN(nodes)}, again: rng.IntN(3), delay: upTo(rng, 0, 500*time.Millisecond)}
		},
	}, {
		name: "kill-all", words: "SIGKILL all nodes at once",
		lane: processes, least: 0, most: 3 * time.Second, impossible: several,
		make: func(rng *rand.Rand, nodes int) fault { return &kill{nodes: rng.Perm(nodes)} },
	}, {
		name: "pause", words: "SIGSTOP a node, SIGCONT it later",
		lane: processes, least: time.Second, most: 20 * time.Second, impossible: pausing,
		make: func(rng *rand.Rand, nodes int) fault { return &pause{node: rng.IntN(nodes)} },
	}, {
		name: "restart", words: "SIGTERM one node after the other and start it again, as for an upgrade",
		lane: processes, impossible: possible,
		make: func(rng *rand.Rand, nodes int) fault { return &restart{order: rng.Perm(nodes)} },
	}, {
		name: "wipe", words: "SIGKILL a node, delete its data, start it again",
		lane: processes, least: 0, most: 5 * time.Second, impossible: majority,
		make: func(rng *rand.Rand, nodes int) fault { return &wipe{node: rng.IntN(nodes)} },
	}, {
		name:  "partition",
		words: "block traffic between a node, or a pair, and the others; sometimes one way only, or break connections",
		lane:  network, least: time.Second, most: 20 * time.Second, impossible: several,
		make: newPartition,
	}, {
		name: "absence", words: "cut off or kill a node until it needs a checkpoint, which is sometimes slow",
		lane: network, least: 0, most: 5 * time.Second, impossible: majority,
		make: newAbsence,
	}, {
		name: "latency", words: "slow the network between the nodes down by 5 to 300 ms each way",
		lane: network, least: 2 * time.Second, most: 15 * time.Second, impossible: proxied,
		make: func(rng *rand.Rand, _ int) fault {
			return &latency{delay: upTo(rng, 5*time.Millisecond, 300*time.Millisecond)}
		},
	}, {
		name: "clients", words: "cut the clients off from a node",
		lane: doors, least: time.Second, most: 10 * time.Second, impossible: possible,
		make: func(rng *rand.Rand, nodes int) fault { return newLockout(rng, nodes) },
	}, {
		name: "slow-disk", words: "let a node's disk do only 5 to 50 writes a second",
		lane: disks, least: 2 * time.Second, most: 15 * time.Second, impossible: slowDisks,
		make: func(rng *rand.Rand, nodes int) fault {
			return &slowDisk{node: rng.IntN(nodes), writes: 5 + rng.IntN(46)}
		},
	}, {
		name: history.FullDisk, words: "fill a node's disk",
		lane: disks, least: time.Second, most: 10 * time.Second, impossible: ownDisks,
		make: func(rng *rand.Rand, nodes int) fault { return &fullDisk{node: rng.IntN(nodes)} },
	}, {
		name: "power", words: "cut the power of one, two or all nodes: SIGKILL, and the disk keeps only what was synced",
		lane: disks, least: 0, most: 5 * time.Second, impossible: ownDisks,
		make: func(rng *rand.Rand, nodes int) fault {
			return &power{nodes: rng.Perm(nodes)[:1+rng.IntN(nodes)]}
		},
	}, {
		name: "clock", words: "set a node's clock ahead or back by up to 5 s",
		lane: clocks, least: time.Second, most: 20 * time.Second, impossible: ownClocks,
		make: newJump,
	},
}

// Faults returns the names of all kinds of faults.
func Faults() []string {
	var out []string
	for _, k := range kinds {
		out = append(out, k.name)
	}
	return out
}

// Describe returns what the kinds of faults do, a line for each.
func Describe() string {
	var b strings.Builder
	for _, k := range kinds {
		fmt.Fprintf(&b, "  %-10s %s\n", k.name, k.words)
	}
	return b.String()
}

func upTo(rng *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(rng.Int64N(int64(most-least)+1))
}

func possible(*Config) string { return "" }

func several(c *Config) string {
	if c.Nodes < 2 {
		return "it takes several nodes"
	}
	return ""
}

func proxied(c *Config) string {
	if c.Namespaces {
		return "namespaces have no slow network"
	}
	return several(c)
}

func majority(c *Config) string {
	if c.Nodes < 3 {
		return "it takes three nodes for the others to have everything"
	}
	return ""
}

// nameOf is the name of the i-th node.
func nameOf(i int) string { return string(rune('a' + i)) }

// namesOf returns the names of several nodes.
func namesOf(nodes []int, between string) string {
	var names []string
	for _, i := range nodes {
		names = append(names, nameOf(i))
	}
	return strings.Join(names, between)
}
