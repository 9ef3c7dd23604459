package declared

import (
	"cmp"
	"slices"
	"strings"
)

// order sorts the resources so that each comes after those it needs. If the dead-letter queues form a cycle, the policy
// that closes it is set after all of them exist.
func (f *fileReader) order() {
	all := f.file.Resources
	slices.SortFunc(all, func(a, b *Resource) int { return inOrder(a.Ref, b.Ref) })
	here := make(map[Ref]*Resource, len(all))
	for _, r := range all {
		here[r.Ref] = r
		if ref, ok := refOfARN(undeliveredTarget(r.Settings["dead-letters"])); ok && r.Kind == QueueKind {
			r.needs = append(r.needs, ref)
		}
		if r.Kind == RoleKind {
			r.needs = append(r.needs, f.trusted(r)...)
		}
		r.needs = append(r.needs, compositesOf(r.Ref, r.Settings)...)
	}
	const visiting, done = 1, 2
	state := make(map[Ref]int, len(all))
	out := make([]*Resource, 0, len(all))
	var visit func(r *Resource)
	visit = func(r *Resource) {
		state[r.Ref] = visiting
		for _, need := range r.needs {
			switch next := here[need]; {
			case next == nil || state[need] == done:
			case state[need] == visiting:
				r.later = r.Kind == QueueKind
			default:
				visit(next)
			}
		}
		state[r.Ref] = done
		out = append(out, r)
	}
	for _, r := range all {
		if state[r.Ref] == 0 {
			visit(r)
		}
	}
	f.file.Resources = out
}

// dependentsFirst sorts composite alarms, which are next to each other, so that each comes before those it names.
func dependentsFirst(refs []Ref, found Found) []Ref {
	seen := make(map[Ref]bool, len(refs))
	var last []Ref // the last one comes first
	var visit func(r Ref)
	visit = func(r Ref) {
		if seen[r] || !slices.Contains(refs, r) {
			return
		}
		seen[r] = true
		for _, child := range compositesOf(r, found[r].Settings) {
			visit(child)
		}
		last = append(last, r)
	}
	for _, r := range slices.Backward(refs) {
		visit(r)
	}
	slices.Reverse(last)
	return last
}

// trusted returns the roles in the file that a role's trust policy names.
func (f *fileReader) trusted(r *Resource) (roles []Ref) {
	for other, path := range f.declared {
		if other.Kind == RoleKind && other != r.Ref && strings.Contains(r.Settings["trust"], `"`+other.ARN(path)+`"`) {
			roles = append(roles, other)
		}
	}
	slices.SortFunc(roles, func(a, b Ref) int { return cmp.Compare(a.Name, b.Name) })
	return roles
}
