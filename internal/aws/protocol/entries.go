package protocol

import (
	"iter"
	"reflect"
	"slices"
	"strings"
)

// stringMap is the type of most maps on the wire. Those are written without the cost that reflection has for maps.
var stringMap = reflect.TypeFor[map[string]string]()

// mapKey returns s as a key of a map planned by p.
func (p *plan) mapKey(s string) reflect.Value {
	k := reflect.ValueOf(s)
	if t := p.typ.Key(); k.Type() != t {
		return k.Convert(t)
	}
	return k
}

// setEntry puts an entry into m, a map planned by p. It copies value.
func (p *plan) setEntry(m reflect.Value, key string, value reflect.Value) {
	if p.typ == stringMap {
		m.Interface().(map[string]string)[key] = value.String()
		return
	}
	m.SetMapIndex(p.mapKey(key), value)
}

// entries yields the entries of m, a map planned by p, sorted by key.
func (p *plan) entries(m reflect.Value) iter.Seq2[string, reflect.Value] {
	return func(yield func(string, reflect.Value) bool) {
		keys := m.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range keys {
			if !yield(k.String(), m.MapIndex(k)) {
				return
			}
		}
	}
}
