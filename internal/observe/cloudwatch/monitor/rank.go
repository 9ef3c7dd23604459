package monitor

import "slices"

// ranks records how high composite alarms stand above the metric alarms on which they depend. Alarms in a cycle have no
// rank, nor have those with invalid rules.
type ranks map[Name]int

// rank ranks the composite alarms of a scope, each above those that its rule names.
func rank(all map[Name]*Alarm) ranks {
	r := &ranking{
		all: all, ranks: make(ranks), seen: make(map[Name]int), low: make(map[Name]int), open: make(map[Name]bool),
	}
	for name := range all {
		r.visit(name)
	}
	return r.ranks
}

// ranking is Tarjan's search for the strongly connected components of a graph. Several alarms in one component, and an
// alarm that names itself, are a cycle.
type ranking struct {
	all   map[Name]*Alarm
	ranks ranks
	seen  map[Name]int // the order in which alarms were found
	low   map[Name]int // the first alarm on the stack that can be reached from one
	stack []Name
	open  map[Name]bool // what is on the stack
}

func (r *ranking) visit(name Name) {
	a := r.all[name]
	if _, seen := r.seen[name]; seen || a == nil || a.Composite.expression == nil {
		return
	}
	r.seen[name], r.low[name] = len(r.seen), len(r.seen)
	r.stack, r.open[name] = append(r.stack, name), true
	height := 0
	for _, child := range a.Composite.children {
		r.visit(child)
		if r.open[child] {
			r.low[name] = min(r.low[name], r.low[child])
		}
		if of, ok := r.ranks[child]; ok {
			height = max(height, of+1)
		}
	}
	if r.low[name] == r.seen[name] && !r.close(name) && !slices.Contains(a.Composite.children, name) {
		r.ranks[name] = height
	}
}

// close removes the component that begins with an alarm from the stack, and reports whether it has other members.
func (r *ranking) close(name Name) (several bool) {
	from := slices.Index(r.stack, name)
	for _, member := range r.stack[from:] {
		delete(r.open, member)
	}
	several = len(r.stack) > from+1
	r.stack = r.stack[:from]
	return several
}
