package filter

import (
	"maps"
	"slices"
	"strings"
)

// A body is compared as a flat object, in which each array is replaced by one of its elements: its members are the
// paths to the scalars. A rule matches if it matches one of these flat objects.
//
// Invariants:
//
//   - All keys of a rule that go through an array see the same element of it.
//   - Each key visits a value of the body at most twice for each rule, so a rule costs at most its keys times the
//     values.
//
// Steps: at an object, the next member of each key is looked up; keys that continue through the same member continue
// together; at an array they look for one element that suits all of them.
//
// A body can have a path twice, such as a.b in {"a": [{"b": 1}], "a.b": 2}. Trying all combinations of keys and ways
// would cost too much, so a key with more than one way is compared on its own: one of its ways must match.

// cursor is a key on its way through a body.
type cursor struct {
	*key
	at int // where in the path the next name begins; beyond the path once all names have been followed
}

// arrived reports whether the cursor has followed the whole path.
func (c *cursor) arrived() bool { return c.at > len(c.path) }

// follow returns the cursor behind a member, and whether the path goes through that member.
func (c cursor) follow(name string) (cursor, bool) {
	rest, ok := strings.CutPrefix(c.path[c.at:], name)
	if !ok || rest != "" && rest[0] != '.' {
		return c, false
	}
	c.at += len(name) + 1
	return c, true
}

// way is a member of an object through which a path continues.
type way struct {
	cursor
	to node
}

func (r rule) matchesBody(d *document) bool {
	var few [8]cursor
	cursors := few[:0]
	for _, k := range r {
		cursors = append(cursors, cursor{key: k})
	}
	return d.matches(cursors, d.root())
}

// matches reports whether there is one choice of elements with which all cursors match below a value.
func (d *document) matches(cursors []cursor, value node) bool {
	switch d.kind(value) {
	case object:
		return d.matchesObject(cursors, value)
	case array:
		return d.matchesElement(cursors, value)
	}
	for i := range cursors {
		if !d.matchesScalar(&cursors[i], value) {
			return false
		}
	}
	return true
}

func (d *document) matchesScalar(c *cursor, value node) bool {
	if !c.arrived() {
		return c.absent
	}
	s := d.scalar(value)
	return oneMatches(c.conditions, &s)
}

func (d *document) matchesElement(cursors []cursor, list node) bool {
	first := d.first(list)
	if first == none {
		return allAbsent(cursors)
	}
	for e := first; e != none; e = d.next(list, e) {
		if d.matches(cursors, e) {
			return true
		}
	}
	return false
}

func allAbsent(cursors []cursor) bool {
	for i := range cursors {
		if !cursors[i].absent {
			return false
		}
	}
	return true
}

// matchesObject moves the cursors through the members of an object, those of each member together.
func (d *document) matchesObject(cursors []cursor, object node) bool {
	var few [8]way
	single := few[:0]
	for _, c := range cursors {
		switch w, n := d.way(c, object); {
		case n == 0 && !c.absent:
			return false
		case n == 1:
			single = append(single, w)
		case n > 1 && !d.matchesOneOf(d.ways(c, object)):
			return false
		}
	}
	for len(single) > 0 {
		var few [8]cursor
		together, to, rest := few[:0], single[0].to, single[:0]
		for _, w := range single {
			if w.to == to {
				together = append(together, w.cursor)
			} else {
				rest = append(rest, w)
			}
		}
		if !d.matches(together, to) {
			return false
		}
		single = rest
	}
	return true
}

// matchesOneOf compares a key with several ways: a scalar at the end of one of them matches, or there is none at the
// end of any. The two are searched for one after the other, each without the other below, so that no value is visited
// more than twice.
func (d *document) matchesOneOf(ways []way) bool {
	k := ways[0].key
	if len(k.conditions) > 0 {
		there := *k
		there.absent = false
		for _, w := range ways {
			if d.matches([]cursor{{&there, w.at}}, w.to) {
				return true
			}
		}
	}
	if !k.absent {
		return false
	}
	missing := key{path: k.path, absent: true}
	for _, w := range ways {
		if !d.matches([]cursor{{&missing, w.at}}, w.to) {
			return false
		}
	}
	return true
}

// way returns the first member of an object through which a path continues, and how many there are.
func (d *document) way(c cursor, of node) (first way, n int) {
	d.eachWay(c, of, func(w way) {
		if n++; n == 1 {
			first = w
		}
	})
	return first, n
}

// ways returns all members of an object through which a path continues.
func (d *document) ways(c cursor, of node) (all []way) {
	d.eachWay(c, of, func(w way) { all = append(all, w) })
	return all
}

// fewNames is the maximum number of names of a path that are looked up one by one, in the index of a large object.
const fewNames = 16

func (d *document) eachWay(c cursor, of node, f func(way)) {
	if c.arrived() {
		return
	}
	if strings.Count(c.path[c.at:], ".") >= fewNames {
		d.eachWayOfMany(c, of, f)
		return
	}
	for end := c.at; end <= len(c.path); end++ {
		if end < len(c.path) && c.path[end] != '.' {
			continue
		}
		if to := d.member(of, c.path[c.at:end]); to != none {
			f(way{cursor{c.key, end + 1}, to})
		}
	}
}

// eachWayOfMany is eachWay for a path of many names: it looks at each member instead. Of members of the same name the
// last one counts.
func (d *document) eachWayOfMany(c cursor, of node, f func(way)) {
	ends := make(map[int]node)
	d.eachMember(of, func(name, value node) {
		if next, ok := c.follow(d.string(name)); ok {
			ends[next.at] = value
		}
	})
	for _, at := range slices.Sorted(maps.Keys(ends)) {
		f(way{cursor{c.key, at}, ends[at]})
	}
}
