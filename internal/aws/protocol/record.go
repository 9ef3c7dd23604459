package protocol

import (
	"reflect"
	"strconv"
	"time"

	"github.com/sluicemq/sluice/internal/tool/weburl"
)

// Hidden replaces a secret or a message in a record, as in CloudTrail.
const Hidden = "HIDDEN_DUE_TO_SECURITY_REASONS"

// Parameters returns an input that Decode has returned as a record of calls has it: JSON with names in lower camel
// case, without fields that are absent, and with Hidden for those that have the tag hidden. Of a URL in a field with
// the tag hidden:"url", which is a text, it has the scheme and the host. An input without fields is null.
func (op *Operation) Parameters(in any) []byte { return recorded(op.in, in) }

// Elements returns an output of Invoke as Parameters does an input.
func (op *Operation) Elements(out any) []byte { return recorded(op.out, out) }

func recorded(p *plan, v any) []byte {
	b := appendRecord(nil, p, reflect.ValueOf(v).Elem())
	if string(b) == "{}" {
		return []byte("null")
	}
	return b
}

func appendRecord(dst []byte, p *plan, v reflect.Value) []byte {
	if p.pointer && !v.IsNil() {
		v = v.Elem()
	}
	switch p.shape {
	case timeShape:
		if t, ok := v.Interface().(time.Time); ok {
			return strconv.AppendQuote(dst, t.UTC().Format(time.RFC3339))
		}
	case listShape:
		dst = append(dst, '[')
		for i := range v.Len() {
			dst = appendRecord(appendComma(dst, '['), p.elem, v.Index(i))
		}
		return append(dst, ']')
	case mapShape:
		dst = append(dst, '{')
		for key, value := range p.entries(v) {
			dst = append(appendQuoted(appendComma(dst, '{'), key), ':')
			dst = appendRecord(dst, p.elem, value)
		}
		return append(dst, '}')
	case structShape:
		return appendRecordFields(dst, p, v)
	}
	if p.pointer && v.Kind() == reflect.Pointer {
		return append(dst, "null"...)
	}
	return appendJSON(dst, &plan{typ: p.typ, shape: p.shape}, v, awsJSON)
}

func appendRecordFields(dst []byte, p *plan, v reflect.Value) []byte {
	dst = append(dst, '{')
	for i := range p.fields {
		f := &p.fields[i]
		fv := v.FieldByIndex(f.index)
		name := f.json
		if name == "" {
			name = f.query
		}
		if !f.present(fv) || fv.IsZero() {
			continue
		}
		dst = append(appendComma(dst, '{'), '"')
		dst = append(append(dst, name[0]|0x20), name[1:]...)
		dst = append(dst, `":`...)
		if f.hidden {
			dst = strconv.AppendQuote(dst, Hidden)
			continue
		}
		if f.hiddenURL {
			shown := weburl.Origin(reflect.Indirect(fv).String())
			dst = appendRecord(dst, f.plan, reflect.ValueOf(&shown))
			continue
		}
		dst = appendRecord(dst, f.plan, fv)
	}
	return append(dst, '}')
}
