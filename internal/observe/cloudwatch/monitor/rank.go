package monitor

import "slices"

// ranks records how high composite alarms stand above the metric alarms on which they depend. Alarms in a cycle have no
// rank, nor have those with invalid rules.
type ranks map[Name]int

// unranked is the rank of an alarm that has none.
const unranked = -1

// rank ranks the composite alarms of a scope, each above those that its rule names.
func rank(all map[Name]*Alarm) ranks {
	r := newRanking(all)
	for i := range r.nodes {
		r.visit(i)
	}
	out := make(ranks, len(all))
	for i := range r.nodes {
		if n := &r.nodes[i]; n.rank != unranked {
			out[n.name] = n.rank
		}
	}
	return out
}

// ranking is Tarjan's search for the strongly connected components of a graph. Several alarms in one component, and an
// alarm that names itself, are a cycle.
type ranking struct {
	nodes []rankNode
	found int   // how many nodes were found
	stack []int // of nodes
}

// rankNode is an alarm in a ranking. The rules of an account may have a million children together, so that they are
// looked up once.
type rankNode struct {
	name     Name
	children []int // nodes: the composite alarms that the rule names
	rank     int
	seen     int // the order in which nodes were found; 0: not yet
	low      int // the first node on the stack that can be reached from this one
	open     bool
}

func newRanking(all map[Name]*Alarm) *ranking {
	r := &ranking{nodes: make([]rankNode, 0, len(all))}
	index := make(map[string]int, len(all)) // by the names within the scope
	for name, a := range all {
		if a.Composite.expression != nil {
			index[name.Name] = len(r.nodes)
			r.nodes = append(r.nodes, rankNode{name: name, rank: unranked})
		}
	}
	for i := range r.nodes {
		n := &r.nodes[i]
		for _, child := range all[n.name].Composite.children {
			if node, ok := index[child.Name]; ok {
				n.children = append(n.children, node)
			}
		}
	}
	return r
}

func (r *ranking) visit(i int) {
	n := &r.nodes[i]
	if n.seen > 0 {
		return
	}
	r.found++
	n.seen, n.low = r.found, r.found
	r.stack, n.open = append(r.stack, i), true
	height := 0
	for _, child := range n.children {
		r.visit(child)
		c := &r.nodes[child]
		if c.open {
			n.low = min(n.low, c.low)
		}
		height = max(height, c.rank+1)
	}
	if n.low == n.seen && !r.close(i) && !slices.Contains(n.children, i) {
		n.rank = height
	}
}

// close removes the component that begins with a node from the stack, and reports whether it has other members.
func (r *ranking) close(i int) (several bool) {
	for {
		last := len(r.stack) - 1
		member := r.stack[last]
		r.stack, r.nodes[member].open = r.stack[:last], false
		if member == i {
			return several
		}
		several = true
	}
}
