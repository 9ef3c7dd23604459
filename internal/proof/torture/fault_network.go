package torture

import (
	"errors"
	"math/rand/v2"
	"time"
)

// partition separates one side of the cluster, a node or two, from the other.
type partition struct {
	side    []int // the nodes of the one side
	others  []int
	weather weather // on the ways between the sides
	how     string
}

// newPartition decides which nodes are separated. In a cluster of three, one node is separated from two, or one pair is
// separated while the third still reaches both.
func newPartition(rng *rand.Rand, nodes int) fault {
	order := rng.Perm(nodes)
	f := &partition{side: order[:1], others: order[1:]}
	if rng.IntN(3) == 0 {
		f.others = order[1:2]
	}
	switch rng.IntN(4) {
	case 0:
		f.weather, f.how = weather{Cut: true}, "broken off"
	case 1:
		f.weather, f.how = weather{There: true}, "nothing gets out"
	default:
		f.weather, f.how = weather{There: true, Back: true}, "nothing gets through"
	}
	return f
}

func (f *partition) String() string {
	text := ""
	for _, i := range f.side {
		text += nameOf(i)
	}
	text += "|"
	for _, i := range f.others {
		text += nameOf(i)
	}
	return text + ", " + f.how
}

func (f *partition) inject(c *cluster) error {
	// Seen from the other side, outgoing packets are the incoming ones here.
	from := f.weather
	from.There, from.Back = f.weather.Back, f.weather.There
	return f.set(c, f.weather, from)
}

func (f *partition) heal(c *cluster) error {
	return f.set(c, weather{}, weather{})
}

// set sets the weather on the ways from the side to the others, and from them.
func (f *partition) set(c *cluster, to, from weather) (err error) {
	for _, i := range f.side {
		for _, k := range f.others {
			err = errors.Join(err, c.nodes[i].ways[nameOf(k)].set(to), c.nodes[k].ways[nameOf(i)].set(from))
		}
	}
	return err
}

// latency makes the network between all nodes slow.
type latency struct{ delay time.Duration }

func (f *latency) String() string { return f.delay.Round(time.Millisecond).String() }

func (f *latency) set(c *cluster, w weather) (err error) {
	for _, n := range c.nodes {
		for _, way := range n.ways {
			err = errors.Join(err, way.set(w))
		}
	}
	return err
}

func (f *latency) inject(c *cluster) error { return f.set(c, weather{Delay: f.delay}) }
func (f *latency) heal(c *cluster) error   { return f.set(c, weather{}) }

// lockout keeps clients away from a node.
type lockout struct {
	node    int
	weather weather
}

func newLockout(rng *rand.Rand, nodes int) fault {
	f := &lockout{node: rng.IntN(nodes), weather: weather{Cut: true}}
	switch rng.IntN(3) {
	case 0:
		f.weather = weather{There: true, Back: true}
	case 1:
		f.weather = weather{Back: true} // requests arrive, and their answers are lost
	}
	return f
}

func (f *lockout) String() string {
	switch {
	case f.weather.Cut:
		return nameOf(f.node) + ", broken off"
	case f.weather.There:
		return nameOf(f.node) + ", nothing gets through"
	}
	return nameOf(f.node) + ", no answers"
}

func (f *lockout) inject(c *cluster) error { return c.nodes[f.node].front.set(f.weather) }
func (f *lockout) heal(c *cluster) error   { return c.nodes[f.node].front.set(weather{}) }
