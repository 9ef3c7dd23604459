package protocol

import (
	"cmp"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// argument is a parameter on its way into a structure.
type argument struct {
	rest  string // the rest of the name below the structure being read
	value string
	name  string // the whole name, for messages
	order int    // position in the form

	field int // in the structure being read
	index int // in the list or map that the field is
}

// unnumbered is the index of parameters that leave it out, as the oldest clients do for single entries.
const unnumbered = -1

// decodeForm reads form into v, which is a zero structure planned by p. The result shares no memory with form.
//
// Parameters that the plan does not know are ignored. Of two parameters with one name the first counts, and of two
// entries of a map with one key. Entries of lists come in the order of their indexes, which may have gaps. A list or
// map with an empty parameter in its place is present and empty, the way SDKs write it.
func decodeForm(form Form, p *plan, v reflect.Value) error {
	args := make([]argument, len(form))
	for i, q := range form {
		args[i] = argument{rest: q.Name, value: q.Value, name: q.Name, order: i}
	}
	return queryStructure(args, p, v)
}

// queryStructure reads a structure. It sorts args so that those of one field, and of one entry of it, are neighbours,
// and reads each such run in place.
func queryStructure(args []argument, p *plan, v reflect.Value) error {
	n := 0
	for _, a := range args {
		name, rest, _ := strings.Cut(a.rest, ".")
		i, known := p.query[name]
		if !known {
			continue
		}
		f := &p.fields[i]
		a.field, a.rest, a.index = i, rest, unnumbered
		if f.plan.collection() {
			if err := a.takeIndex(f); err != nil {
				return err
			}
		}
		if a.rest != "" && !f.plan.nests() {
			continue
		}
		args[n] = a
		n++
	}
	args = args[:n]
	slices.SortFunc(args, func(a, b argument) int {
		return cmp.Or(a.field-b.field, cmp.Compare(a.index, b.index), a.order-b.order)
	})
	for len(args) > 0 {
		f := &p.fields[args[0].field]
		run := args[:runLength(args, func(a argument) int { return a.field })]
		args = args[len(run):]
		if err := queryField(run, f, v.FieldByIndex(f.index)); err != nil {
			return under(f.wrapper, err)
		}
	}
	return nil
}

func queryField(args []argument, f *field, v reflect.Value) error {
	if !f.plan.collection() {
		return queryValue(args, f.plan, &f.limits, v)
	}
	if a := args[0]; a.index == unnumbered && a.rest == "" && a.value == "" {
		args = args[1:] // it says that there is a collection, and is no entry
	}
	n := 0
	for i := range args {
		if i == 0 || args[i].index != args[i-1].index {
			n++
		}
	}
	if err := f.limits.entriesExcess(n); err != nil {
		return err
	}
	if f.plan.shape == listShape {
		v.Set(reflect.MakeSlice(f.plan.typ, n, n))
	} else {
		v.Set(reflect.MakeMapWithSize(f.plan.typ, n))
	}
	for i := 0; len(args) > 0; i++ {
		run := args[:runLength(args, func(a argument) int { return a.index })]
		args = args[len(run):]
		var err error
		if f.plan.shape == listShape {
			err = underEntry(i, queryValue(run, f.plan.elem, &f.limits, v.Index(i)))
		} else {
			err = queryEntry(run, f, v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// queryEntry reads one entry of a map.
func queryEntry(args []argument, f *field, m reflect.Value) error {
	base := args[0].name[:len(args[0].name)-len(args[0].rest)]
	var key *argument
	var value []argument
	for i := range args {
		a := args[i]
		name, rest, _ := strings.Cut(a.rest, ".")
		switch {
		case name == f.key && rest == "" && key == nil:
			key = &a
		case name == f.value && (rest == "" || f.plan.elem.nests()):
			a.rest = rest
			args[len(value)] = a
			value = args[:len(value)+1]
		}
	}
	switch {
	case key == nil && value == nil:
		return nil
	case key == nil:
		return MissingParameter(base + f.key)
	case value == nil:
		return MissingParameter(base + f.value)
	}
	if err := f.limits.keyExcess(key.value); err != nil {
		return err
	}
	k := f.plan.mapKey(strings.Clone(key.value))
	if m.MapIndex(k).IsValid() {
		return nil
	}
	entry := reflect.New(f.plan.typ.Elem()).Elem()
	if err := queryValue(value, f.plan.elem, &f.limits, entry); err != nil {
		return under("value", err)
	}
	m.SetMapIndex(k, entry)
	return nil
}

// queryValue reads a value that is not a collection. A scalar has at least one argument.
func queryValue(args []argument, p *plan, l *limits, v reflect.Value) error {
	if p.pointer {
		n := reflect.New(p.typ)
		v.Set(n)
		v = n.Elem()
	}
	a := &args[0]
	switch p.shape {
	case structShape:
		return queryStructure(args, p, v)
	case stringShape:
		if err := l.textExcess(a.value); err != nil {
			return err
		}
		v.SetString(strings.Clone(a.value))
	case boolShape:
		b, err := strconv.ParseBool(a.value)
		if err != nil {
			return a.invalid("Must be true or false.")
		}
		v.SetBool(b)
	case intShape:
		n, err := strconv.ParseInt(a.value, 10, p.typ.Bits())
		if err != nil {
			return a.invalid("Must be an integer.")
		}
		v.SetInt(n)
	case floatShape:
		n, ok := parseFloat(a.value)
		if !ok {
			n, ok = notFinite(a.value)
		}
		if !ok {
			return a.invalid("Must be a number.")
		}
		v.SetFloat(n)
	case timeShape:
		t, ok := parseISO(a.value)
		if !ok {
			e := a.invalid("Must be a date of ISO 8601.")
			e.time = true
			return e
		}
		v.Set(reflect.ValueOf(t))
	case blobShape:
		blob, ok := decodeBase64(a.value)
		if !ok {
			return a.invalid("Must be valid Base64.")
		}
		v.SetBytes(blob)
		return l.blobExcess(blob)
	}
	return nil
}

// takeIndex moves the index of an entry of f, if there is one, from the rest of a's name to its place.
func (a *argument) takeIndex(f *field) error {
	if f.wrap != "" {
		if rest, ok := strings.CutPrefix(a.rest, f.wrap+"."); ok {
			a.rest = rest
		}
	}
	digits, rest, _ := strings.Cut(a.rest, ".")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return nil
	}
	n, err := strconv.ParseInt(digits, 10, 32)
	if err != nil {
		return InvalidParameterValue("The index of the parameter %.100s is too large.", a.name)
	}
	a.index, a.rest = int(n), rest
	return nil
}

// malformedError reports a value that is not of its parameter's type. Decode turns it into the service's error.
type malformedError struct {
	name, value, reason string
	time                bool
}

func (a *argument) invalid(reason string) *malformedError {
	return &malformedError{name: a.name, value: a.value, reason: reason}
}

func (e *malformedError) Error() string {
	return fmt.Sprintf("Value %.100s for parameter %.100s is invalid. Reason: %s", e.value, e.name, e.reason)
}

// refusal returns the error for clients: in the words of AWS's framework, which has a text for times only, or in SQS's.
func (e *malformedError) refusal(framework bool) *Error {
	if !framework {
		return InvalidParameterValue("%s", e.Error())
	}
	refused := coral("SerializationException", "MalformedInput", http.StatusBadRequest, "")
	if e.time {
		refused.Message = "timestamp must follow ISO8601"
	}
	refused.Detail = e.Error()
	return refused
}

// runLength returns how many of args, from the first on, agree with it in what by says.
func runLength(args []argument, by func(argument) int) int {
	n := 1
	for n < len(args) && by(args[n]) == by(args[0]) {
		n++
	}
	return n
}

// nests reports whether parameters have names below that of p, or below the index of its entries.
func (p *plan) nests() bool {
	return p.shape == structShape || p.shape == mapShape || p.shape == listShape && p.elem.nests()
}
