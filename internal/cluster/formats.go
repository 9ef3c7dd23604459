package cluster

import (
	"fmt"
	"maps"
	"slices"
)

// Reads returns nil if every node of the cluster is known to read data directories of the given format. The last
// statement of each node counts, even of a node that is away. Otherwise the error names the node that does not. Write
// records that older programs cannot read only after Reads has returned nil.
func (n *Node) Reads(format int) error { return n.members.allRead(format) }

// readable returns the highest format that every node reads. See Reads.
func (m *membership) readable() int {
	format := m.o.Reads
	for format > 1 && m.allRead(format) != nil { // all programs read the first format
		format--
	}
	return format
}

func (m *membership) allRead(format int) error {
	said := m.view.lastSaid()
	for _, name := range slices.Sorted(maps.Keys(m.records.allNodes())) {
		h, heard := said[name]
		switch {
		case name == m.o.Name:
		case !heard:
			return fmt.Errorf("the node %s is away, and which version it runs is not known", name)
		case h.Reads < format:
			return fmt.Errorf("the node %s runs version %s, which is too old for it", name, h.Version)
		}
	}
	return nil
}
