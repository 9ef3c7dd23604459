package monitor

import (
	"maps"
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/tool/heap"
)

// family holds the composite alarms of a scope, and which of them must be evaluated again. An account may have
// thousands, each above the other, so finding the next ones must not take longer the more of them are stale.
type family struct {
	all   map[Name]*Alarm
	stale map[Name]struct{}
	ranks ranks // nil: not known at present; then none is evaluated

	version int // grows with each change of all

	fresh []Name // stale, but not yet in order
	order heap.Heap[*ranked]
}

// ranked is a stale alarm in the order of evaluation.
type ranked struct {
	name  Name
	rank  int
	place int
}

func newFamily() *family {
	return &family{all: make(map[Name]*Alarm), stale: make(map[Name]struct{}), order: newOrder()}
}

func newOrder() heap.Heap[*ranked] {
	return heap.New(func(a, b *ranked) bool {
		if a.rank != b.rank {
			return a.rank < b.rank
		}
		return strings.Compare(a.name.Name, b.name.Name) < 0
	}, func(r *ranked) *int { return &r.place })
}

// mark makes an alarm stale.
func (f *family) mark(name Name) {
	if _, is := f.stale[name]; !is {
		f.stale[name] = struct{}{}
		f.fresh = append(f.fresh, name)
	}
}

// remove removes an alarm.
func (f *family) remove(name Name) {
	delete(f.all, name)
	delete(f.stale, name)
	f.unrank()
}

// unrank forgets the ranks, because one has changed.
func (f *family) unrank() {
	f.ranks = nil
	f.version++
}

// rankAs sets the ranks of a version, unless there is a newer one.
func (f *family) rankAs(r ranks, version int) {
	if version != f.version {
		return
	}
	f.ranks, f.order, f.fresh = r, newOrder(), slices.Collect(maps.Keys(f.stale))
}

// dueAtOnce is how many alarms of a scope are evaluated before those of other scopes have their turn.
const dueAtOnce = 50

// next returns some of the stale alarms of the lowest rank, which are stale no more.
func (f *family) next() (out []Name) {
	if f.ranks == nil {
		return nil
	}
	f.sort()
	for f.order.Len() > 0 && len(out) < dueAtOnce {
		first := f.order.First()
		if len(out) > 0 && first.rank != f.ranks[out[0]] {
			break
		}
		f.order.Remove(first)
		delete(f.stale, first.name)
		out = append(out, first.name)
	}
	return out
}

// sort orders the stale alarms. Those without a rank are stale no more.
func (f *family) sort() {
	for _, name := range f.fresh {
		if at, ok := f.ranks[name]; ok {
			f.order.Set(&ranked{name: name, rank: at})
		} else {
			delete(f.stale, name)
		}
	}
	f.fresh = nil
}
