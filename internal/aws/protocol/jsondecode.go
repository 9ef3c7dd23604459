package protocol

import (
	"reflect"
	"strconv"
)

// jsonDecoder reads a document of AWS JSON by the plan of its expected type.
type jsonDecoder struct {
	scanner
}

// decodeJSON reads data into v, which is a zero structure planned by p. The result shares no memory with data.
//
// Members that the plan does not know are skipped, null stands for an absent member, and of two members with one name
// the last counts. A null in a list is refused, because omitting it would shift the entries after it. Any text other
// than one JSON object is refused, including an empty body.
func decodeJSON(data []byte, p *plan, v reflect.Value) error {
	d := jsonDecoder{scanner{data: data}}
	if c := d.next(); c != '{' {
		return d.mismatch(c, p)
	}
	if err := d.structure(p, v); err != nil {
		return err
	}
	return d.end()
}

// value reads the next value into v. A null leaves v zero.
func (d *jsonDecoder) value(p *plan, l *limits, v reflect.Value) error {
	c := d.next()
	if c == 'n' {
		return d.literal("null")
	}
	if !p.begins(c) {
		return d.mismatch(c, p)
	}
	if p.pointer {
		n := reflect.New(p.typ)
		v.Set(n)
		v = n.Elem()
	}
	switch p.shape {
	case structShape:
		return d.structure(p, v)
	case listShape:
		return d.list(p, l, v)
	case mapShape:
		return d.entries(p, l, v)
	case boolShape:
		if c == 'f' {
			return d.literal("false")
		}
		v.SetBool(true)
		return d.literal("true")
	case intShape:
		return d.integer(p, v)
	case floatShape:
		return d.float(c, p, v)
	case timeShape:
		return d.instant(v)
	}
	q, err := d.quoted()
	if err != nil {
		return err
	}
	text := q.text()
	if p.shape == stringShape {
		v.SetString(text)
		return l.textExcess(text)
	}
	blob, ok := decodeBase64(text)
	if !ok {
		return Serialization("The value of a blob is not valid Base64.")
	}
	v.SetBytes(blob)
	return l.blobExcess(blob)
}

func (d *jsonDecoder) structure(p *plan, v reflect.Value) error {
	if err := d.enter(); err != nil {
		return err
	}
	for first := true; ; first = false {
		more, err := d.more(first, '}')
		if err != nil || !more {
			return err
		}
		name, err := d.name()
		if err != nil {
			return err
		}
		i, known := p.json[string(name.raw)]
		if name.escaped {
			i, known = p.json[name.text()]
		}
		if !known {
			err = d.skip()
		} else {
			f := &p.fields[i]
			fv := v.FieldByIndex(f.index)
			fv.SetZero()
			err = under(f.json, d.value(f.plan, &f.limits, fv))
		}
		if err != nil {
			return err
		}
	}
}

func (d *jsonDecoder) list(p *plan, l *limits, v reflect.Value) error {
	if err := d.enter(); err != nil {
		return err
	}
	v.Set(reflect.MakeSlice(p.typ, 0, 0))
	for n := 0; ; n++ {
		more, err := d.more(n == 0, ']')
		if err != nil || !more {
			return err
		}
		if err := l.entriesExcess(n + 1); err != nil {
			return err
		}
		if d.next() == 'n' {
			return Serialization("NULL_VALUE found in a list")
		}
		if n == v.Cap() {
			v.Grow(p.growth(n))
		}
		v.SetLen(n + 1)
		if err := d.value(p.elem, l, v.Index(n)); err != nil {
			return underEntry(n, err)
		}
	}
}

// growth returns for how many entries a list of n makes room. Structures are the entries of batches, which have ten at
// the most where it matters, and are too large to be moved again and again.
func (p *plan) growth(n int) int {
	if n == 0 && p.elem.shape == structShape {
		return 10
	}
	return 1
}

func (d *jsonDecoder) entries(p *plan, l *limits, v reflect.Value) error {
	if err := d.enter(); err != nil {
		return err
	}
	v.Set(reflect.MakeMap(p.typ))
	entry := reflect.New(p.typ.Elem()).Elem()
	for n := 0; ; n++ {
		more, err := d.more(n == 0, '}')
		if err != nil || !more {
			return err
		}
		if err := l.entriesExcess(n + 1); err != nil {
			return err
		}
		name, err := d.name()
		if err != nil {
			return err
		}
		key := name.text()
		if err := l.keyExcess(key); err != nil {
			return err
		}
		null := d.next() == 'n'
		entry.SetZero()
		if err := d.value(p.elem, l, entry); err != nil {
			return under("value", err)
		}
		if null {
			v.SetMapIndex(p.mapKey(key), reflect.Value{})
		} else {
			p.setEntry(v, key, entry)
		}
	}
}

func (d *jsonDecoder) integer(p *plan, v reflect.Value) error {
	text, integral, err := d.number()
	if err != nil {
		return err
	}
	if !integral {
		return Serialization("DECIMAL_VALUE can not be converted to %s", p.javaType())
	}
	n, parseErr := strconv.ParseInt(string(text), 10, p.typ.Bits())
	if parseErr != nil {
		return Serialization("NUMBER_VALUE can not be converted to %s", p.javaType())
	}
	v.SetInt(n)
	return nil
}

// float reads a number of any kind, which begins with c. Numbers that are not finite are strings.
func (d *jsonDecoder) float(c byte, p *plan, v reflect.Value) error {
	if c == '"' {
		q, err := d.quoted()
		if err != nil {
			return err
		}
		n, ok := notFinite(q.text())
		if !ok {
			return d.mismatch(c, p)
		}
		v.SetFloat(n)
		return nil
	}
	text, _, err := d.number()
	if err != nil {
		return err
	}
	n, ok := parseFloat(string(text))
	if !ok {
		return Serialization("NUMBER_VALUE can not be converted to a Double")
	}
	v.SetFloat(n)
	return nil
}

// instant reads a time, which is in seconds since 1970.
func (d *jsonDecoder) instant(v reflect.Value) error {
	text, _, err := d.number()
	if err != nil {
		return err
	}
	t, ok := parseEpoch(string(text))
	if !ok {
		return Serialization("NUMBER_VALUE can not be converted to a Timestamp")
	}
	v.Set(reflect.ValueOf(t))
	return nil
}

// mismatch reports that a value beginning with c has a different type than p expects.
func (d *jsonDecoder) mismatch(c byte, p *plan) *Error {
	var found string
	switch {
	case c == '[':
		return Serialization("Start of list found where not expected")
	case c == '{':
		return Serialization("Start of structure or map found where not expected.")
	case c == '"':
		found = "STRING_VALUE"
	case c == 't':
		found = "TRUE_VALUE"
	case c == 'f':
		found = "FALSE_VALUE"
	case c == '-' || c >= '0' && c <= '9':
		found = "NUMBER_VALUE"
	default:
		return d.unexpected()
	}
	switch p.shape {
	case listShape:
		return Serialization("Expected list or null")
	case mapShape, structShape:
		return Serialization("Expected map or null")
	}
	return Serialization("%s can not be converted to %s", found, p.javaType())
}

// begins reports whether a value of p's type can begin with c.
func (p *plan) begins(c byte) bool {
	switch p.shape {
	case structShape, mapShape:
		return c == '{'
	case listShape:
		return c == '['
	case boolShape:
		return c == 't' || c == 'f'
	case intShape, timeShape:
		return c == '-' || c >= '0' && c <= '9'
	case floatShape:
		return c == '-' || c >= '0' && c <= '9' || c == '"'
	}
	return c == '"'
}

// javaType names p's type with an article, the way AWS does in messages.
func (p *plan) javaType() string {
	switch {
	case p.shape == boolShape:
		return "a Boolean"
	case p.shape == blobShape:
		return "a Blob"
	case p.shape == stringShape:
		return "a String"
	case p.shape == timeShape:
		return "a Timestamp"
	case p.shape == floatShape:
		return "a Double"
	case p.typ.Kind() == reflect.Int64:
		return "a Long"
	}
	return "an Integer"
}
