package protocol

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// plan describes the wire form of one type. It is built once, at registration, so requests need not inspect types and
// tags.
type plan struct {
	typ     reflect.Type // without the pointer
	pointer bool
	shape   shape
	elem    *plan // of a list or map

	// Of a structure:
	fields []field
	json   map[string]int // index into fields by JSON name
	query  map[string]int // and by Query name or alias
}

type shape uint8

const (
	stringShape shape = iota
	boolShape
	intShape
	floatShape
	blobShape
	timeShape
	listShape
	mapShape
	structShape
)

// field is one member of a structure, with the content of its tags.
type field struct {
	plan   *plan
	index  []int // in the Go struct, through the structs that it embeds
	limits limits

	json    string // "" if the field is not in JSON
	query   string // "" if the field is not in Query
	wrapper string // name in the JSON answer to a Query request

	omitEmpty bool
	always    bool
	hidden    bool // its value is in no record
	hiddenURL bool // if it is a URL, records have its origin only
	precise   bool // a time that XML has to the millisecond

	wrap       string // "" if flattened
	key, value string // of a map
}

// planInput returns the plan of a structure that is an operation's input. It panics if the type, or one that it
// contains, cannot travel, or has a field that clients could make as long as they like.
func planInput(t reflect.Type) *plan {
	pl := planner{done: make(map[reflect.Type]*plan), input: true}
	return pl.root(t)
}

// planOutput returns the plan of a structure that is an operation's output. It panics if the type, or one that it
// contains, cannot travel.
func planOutput(t reflect.Type) *plan {
	pl := planner{done: make(map[reflect.Type]*plan)}
	return pl.root(t)
}

// planner makes plans, one per type.
type planner struct {
	done  map[reflect.Type]*plan // nil while a type is being planned
	input bool                   // fields need limits
}

func (pl *planner) root(t reflect.Type) *plan {
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("protocol: %s is not a struct", t))
	}
	return pl.plan(t, t.String())
}

// plan returns the plan of t. In the panics, at tells where t is found.
func (pl *planner) plan(t reflect.Type, at string) *plan {
	if p, ok := pl.done[t]; ok {
		if p == nil {
			panic(fmt.Sprintf("protocol: %s: type %s contains itself", at, t))
		}
		return p
	}
	pl.done[t] = nil
	p := &plan{typ: t}
	if t.Kind() == reflect.Pointer {
		p.pointer, p.typ = true, t.Elem()
	}
	switch t := p.typ; t.Kind() {
	case reflect.String:
		p.shape = stringShape
	case reflect.Bool:
		p.shape = boolShape
	case reflect.Int, reflect.Int32, reflect.Int64:
		p.shape = intShape
	case reflect.Float64:
		p.shape = floatShape
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			p.shape = blobShape
		} else {
			p.shape, p.elem = listShape, pl.element(t.Elem(), at)
		}
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			panic(fmt.Sprintf("protocol: %s: keys of %s are not strings", at, t))
		}
		p.shape, p.elem = mapShape, pl.element(t.Elem(), at)
	case reflect.Struct:
		if t == timeType {
			p.shape = timeShape
			break
		}
		p.shape = structShape
		p.json, p.query = make(map[string]int), make(map[string]int)
		pl.fields(p, p.typ, nil, at)
	default:
		panic(fmt.Sprintf("protocol: %s: type %s cannot travel", at, t))
	}
	if p.pointer && (p.collection() || p.shape == blobShape) {
		panic(fmt.Sprintf("protocol: %s: %s needs no pointer, nil is absent already", at, p.typ))
	}
	pl.done[t] = p
	return p
}

// element plans the elements of a list or map.
func (pl *planner) element(t reflect.Type, at string) *plan {
	p := pl.plan(t, at+"[]")
	if p.collection() {
		panic(fmt.Sprintf("protocol: %s: collections of collections cannot travel", at))
	}
	return p
}

// fields plans the fields of t, which is p's struct or, at index, one that it embeds.
func (pl *planner) fields(p *plan, t reflect.Type, index []int, at string) {
	for i := range t.NumField() {
		sf := t.Field(i)
		at := at + "." + sf.Name
		index := append(slices.Clone(index), i)
		if sf.Anonymous && sf.Type.Kind() == reflect.Struct {
			pl.fields(p, sf.Type, index, at)
			continue
		}
		if sf.Anonymous || !sf.IsExported() {
			panic(fmt.Sprintf("protocol: %s: unexported fields and embedded ones that are not structs cannot travel", at))
		}
		f := field{index: index, plan: pl.plan(sf.Type, at)}
		if pl.input {
			f.limits = parseLimits(sf, f.plan, at)
		}
		queryNames := f.parse(sf, at)
		if f.json != "" {
			claim(p.json, f.json, len(p.fields), at)
		}
		for _, name := range queryNames {
			claim(p.query, name, len(p.fields), at)
		}
		p.fields = append(p.fields, f)
	}
}

// parse reads the tags of sf and returns the names that f has in Query requests.
func (f *field) parse(sf reflect.StructField, at string) []string {
	name, options, _ := strings.Cut(sf.Tag.Get("json"), ",")
	if name == "" {
		name = sf.Name
	}
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "":
		case "omitempty":
			f.omitEmpty = true
		case "always":
			f.always = true
		default:
			panic(fmt.Sprintf("protocol: %s: unknown json option %q", at, option))
		}
	}
	names := strings.Split(sf.Tag.Get("query"), ",")
	switch {
	case name == "-" && (names[0] == "" || names[0] == "-"):
		panic(fmt.Sprintf("protocol: %s has no name in any protocol", at))
	case names[0] == "-":
		names = nil
	case names[0] == "":
		names[0] = name
	}
	if name != "-" {
		f.json = name
	}
	if names != nil {
		f.query = names[0]
	}
	hidden, isHidden := sf.Tag.Lookup("hidden")
	f.hidden, f.hiddenURL = isHidden && hidden == "", hidden == "url"
	_, f.precise = sf.Tag.Lookup("precise")
	f.wrapper = sf.Tag.Get("wrapper")
	if f.wrapper == "" {
		f.wrapper = f.json
	}
	if f.wrapper == "" {
		f.wrapper = f.query
	}
	f.wrap = sf.Tag.Get("wrap")
	f.key, f.value = "Name", "Value"
	if entry, ok := sf.Tag.Lookup("entry"); ok {
		f.key, f.value, _ = strings.Cut(entry, ",")
	}

	shape := f.plan.shape
	switch {
	case f.always && !f.plan.collection():
		panic(fmt.Sprintf("protocol: %s: only lists and maps can be written always", at))
	case f.precise && shape != timeShape:
		panic(fmt.Sprintf("protocol: %s: only times can be precise", at))
	case f.wrap != "" && !f.plan.collection():
		panic(fmt.Sprintf("protocol: %s: only lists and maps can be wrapped", at))
	case sf.Tag.Get("entry") != "" && shape != mapShape:
		panic(fmt.Sprintf("protocol: %s: only maps have entries", at))
	case f.key == f.value:
		panic(fmt.Sprintf("protocol: %s: keys and values are both called %q", at, f.key))
	}
	for _, n := range slices.Concat([]string{name, f.wrapper, f.key, f.value}, names) {
		if !isName(n) {
			panic(fmt.Sprintf("protocol: %s: %q is not a name", at, n))
		}
	}
	if f.wrap != "" && !isName(f.wrap) {
		panic(fmt.Sprintf("protocol: %s: %q is not a name", at, f.wrap))
	}
	return names
}

// collection reports whether p is of a list or map.
func (p *plan) collection() bool { return p.shape == listShape || p.shape == mapShape }

// void reports whether p is of a structure without members, the output of operations that have none.
func (p *plan) void() bool { return len(p.fields) == 0 }

// present reports whether v, the value of f in an answer, is written at all.
func (f *field) present(v reflect.Value) bool {
	switch {
	case f.plan.pointer:
		return !v.IsNil()
	case f.plan.collection():
		return f.always || v.Len() > 0
	case f.plan.shape == blobShape:
		return v.Len() > 0
	case f.omitEmpty:
		return !v.IsZero()
	}
	return true
}

func claim(names map[string]int, name string, i int, at string) {
	if _, taken := names[name]; taken {
		panic(fmt.Sprintf("protocol: %s: the name %s is taken by another field", at, name))
	}
	names[name] = i
}

// isName reports whether s can be a member's name, which needs escaping in no protocol.
func isName(s string) bool {
	if s == "-" {
		return true
	}
	for i := range len(s) {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '-') {
			return false
		}
	}
	return s != ""
}
