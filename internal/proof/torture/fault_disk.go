package torture

import (
	"fmt"
	"slices"
)

// needsDisk reports whether each node is to have a disk of its own.
func needsDisk(c *Config) bool {
	all, err := c.kinds()
	return err == nil && slices.ContainsFunc(all, func(k kind) bool { return k.lane == disks })
}

// slowDisk limits the writes of a node.
type slowDisk struct {
	node    int
	writes  int // per second
	restore func() error
}

func (f *slowDisk) String() string { return fmt.Sprintf("%s, %d writes/s", nameOf(f.node), f.writes) }

func (f *slowDisk) inject(c *cluster) (err error) {
	n := c.nodes[f.node]
	limit, restore, err := limitWrites(n.data, fmt.Sprintf("sluice-torture-%d", n.pid()), f.writes)
	if err != nil {
		return err
	}
	f.restore = restore
	return n.attend(limit)
}

func (f *slowDisk) heal(c *cluster) error {
	if err := c.nodes[f.node].attend(nil); err != nil {
		return err
	}
	if f.restore == nil {
		return nil
	}
	return f.restore()
}

// fullDisk takes the space of a node's disk.
type fullDisk struct {
	node int
	free func() error
}

func (f *fullDisk) String() string { return nameOf(f.node) }

func (f *fullDisk) inject(c *cluster) (err error) {
	f.free, err = hog(c.nodes[f.node].data)
	return err
}

func (f *fullDisk) heal(*cluster) error {
	if f.free == nil {
		return nil
	}
	return f.free()
}

// power cuts the power of nodes: their processes end, and their disks keep only what was synced.
type power struct{ nodes []int }

func (f *power) String() string { return namesOf(f.nodes, " ") }

func (f *power) inject(c *cluster) error {
	if err := atOnce(c.some(f.nodes), (*node).kill); err != nil {
		return err
	}
	return atOnce(c.some(f.nodes), func(n *node) error { return n.disk.losePower() })
}

func (f *power) heal(c *cluster) error { return atOnce(c.some(f.nodes), (*node).start) }
