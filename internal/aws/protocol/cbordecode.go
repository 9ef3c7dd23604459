package protocol

import (
	"math"
	"reflect"
)

// cborDecoder reads a document of Smithy RPC v2 CBOR by the plan of its expected type.
type cborDecoder struct {
	cborScanner
}

// decodeCBOR reads data into v, which is a zero structure planned by p. The result shares no memory with data.
//
// The rules of JSON hold for CBOR: unknown members are skipped, null stands for an absent member but not for the entry
// of a list, and of two members with one name the last counts. An empty body is an empty structure: clients send none
// for operations without input.
func decodeCBOR(data []byte, p *plan, v reflect.Value) error {
	if len(data) == 0 {
		return nil
	}
	d := cborDecoder{cborScanner{data: data}}
	it, err := d.head()
	if err != nil {
		return err
	}
	if it.major != cborMap {
		return p.cborMismatch(it)
	}
	if err := d.structure(it, p, v); err != nil {
		return err
	}
	return d.end()
}

// value reads the rest of an item that is not null into v.
func (d *cborDecoder) value(it item, p *plan, l *limits, v reflect.Value) error {
	if p.pointer {
		n := reflect.New(p.typ)
		v.Set(n)
		v = n.Elem()
	}
	switch {
	case p.shape == structShape && it.major == cborMap:
		return d.structure(it, p, v)
	case p.shape == listShape && it.major == cborArray:
		return d.list(it, p, l, v)
	case p.shape == mapShape && it.major == cborMap:
		return d.entries(it, p, l, v)
	case p.shape == boolShape && it.major == cborSimple && (it.info == cborTrue || it.info == cborFalse):
		v.SetBool(it.info == cborTrue)
		return nil
	case p.shape == intShape:
		return p.cborInteger(it, v)
	case p.shape == floatShape:
		n, ok := it.float()
		if !ok {
			return p.cborMismatch(it)
		}
		v.SetFloat(n)
		return nil
	case p.shape == timeShape:
		return d.instant(it, p, v)
	case p.shape == stringShape && it.major == cborText:
		content, err := d.content(it)
		if err != nil {
			return err
		}
		v.SetString(string(content))
		return l.textExcess(v.String())
	case p.shape == blobShape && it.major == cborBytes:
		content, err := d.content(it)
		if err != nil {
			return err
		}
		if err := l.blobExcess(content); err != nil {
			return err
		}
		v.SetBytes(append([]byte{}, content...))
		return nil
	}
	return p.cborMismatch(it)
}

func (d *cborDecoder) structure(it item, p *plan, v reflect.Value) error {
	if err := d.enter(); err != nil {
		return err
	}
	for n := 0; ; n++ {
		more, err := d.more(it, n)
		if err != nil || !more {
			return err
		}
		name, err := d.name()
		if err != nil {
			return err
		}
		member, err := d.head()
		if err != nil {
			return err
		}
		i, known := p.json[string(name)]
		if !known {
			err = d.skip(member)
		} else {
			f := &p.fields[i]
			fv := v.FieldByIndex(f.index)
			fv.SetZero()
			if !member.null() {
				err = under(f.json, d.value(member, f.plan, &f.limits, fv))
			}
		}
		if err != nil {
			return err
		}
	}
}

func (d *cborDecoder) list(it item, p *plan, l *limits, v reflect.Value) error {
	if err := d.enter(); err != nil {
		return err
	}
	v.Set(reflect.MakeSlice(p.typ, 0, 0))
	for n := 0; ; n++ {
		more, err := d.more(it, n)
		if err != nil || !more {
			return err
		}
		if err := l.entriesExcess(n + 1); err != nil {
			return err
		}
		entry, err := d.head()
		if err != nil {
			return err
		}
		if entry.null() {
			return Serialization("NULL_VALUE found in a list")
		}
		if n == v.Cap() {
			v.Grow(1)
		}
		v.SetLen(n + 1)
		if err := d.value(entry, p.elem, l, v.Index(n)); err != nil {
			return underEntry(n, err)
		}
	}
}

func (d *cborDecoder) entries(it item, p *plan, l *limits, v reflect.Value) error {
	if err := d.enter(); err != nil {
		return err
	}
	v.Set(reflect.MakeMap(p.typ))
	value := reflect.New(p.typ.Elem()).Elem()
	for n := 0; ; n++ {
		more, err := d.more(it, n)
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
		key := string(name)
		if err := l.keyExcess(key); err != nil {
			return err
		}
		entry, err := d.head()
		if err != nil {
			return err
		}
		if entry.null() {
			v.SetMapIndex(p.mapKey(key), reflect.Value{})
			continue
		}
		value.SetZero()
		if err := d.value(entry, p.elem, l, value); err != nil {
			return under("value", err)
		}
		p.setEntry(v, key, value)
	}
}

// instant reads a time: the tag of one and seconds since 1970.
func (d *cborDecoder) instant(it item, p *plan, v reflect.Value) error {
	if it.major != cborTag || it.arg != cborEpoch {
		return p.cborMismatch(it)
	}
	it, err := d.head()
	if err != nil {
		return err
	}
	seconds, ok := it.float()
	t, inRange := epoch(seconds)
	if !ok || !inRange {
		return p.cborMismatch(it)
	}
	v.Set(reflect.ValueOf(t))
	return nil
}

// cborInteger puts a number without fraction into v.
func (p *plan) cborInteger(it item, v reflect.Value) error {
	if it.major > cborNegative || it.arg > math.MaxInt64 {
		return p.cborMismatch(it)
	}
	n := int64(it.arg)
	if it.major == cborNegative {
		n = -1 - n
	}
	if v.OverflowInt(n) {
		return p.cborMismatch(it)
	}
	v.SetInt(n)
	return nil
}

// cborMismatch reports that it stands where p wants another type, in the words that AWS has for JSON.
func (p *plan) cborMismatch(it item) *Error {
	var found string
	switch it.major {
	case cborArray:
		return Serialization("Start of list found where not expected")
	case cborMap:
		return Serialization("Start of structure or map found where not expected.")
	case cborUnsigned, cborNegative:
		found = "NUMBER_VALUE"
	case cborBytes:
		found = "BLOB_VALUE"
	case cborText:
		found = "STRING_VALUE"
	case cborTag:
		found = "TAGGED_VALUE"
	default:
		switch it.info {
		case cborTrue:
			found = "TRUE_VALUE"
		case cborFalse:
			found = "FALSE_VALUE"
		case cborNull, cborUndefined:
			found = "NULL_VALUE"
		case cborFloat16, cborFloat32, cborFloat64:
			found = "DECIMAL_VALUE"
		default:
			found = "SIMPLE_VALUE"
		}
	}
	switch p.shape {
	case listShape:
		return Serialization("Expected list or null")
	case mapShape, structShape:
		return Serialization("Expected map or null")
	}
	return Serialization("%s can not be converted to %s", found, p.javaType())
}
