package protocol

import (
	"encoding/base64"
	"reflect"
	"strconv"
	"time"
)

// style is one of the two ways in which answers are put into JSON.
type style uint8

const (
	// awsJSON is the answer to an AWS JSON request.
	awsJSON style = iota
	// queryJSON is the answer to a Query request that accepts JSON: maps are lists of pairs, and absent values are
	// null.
	queryJSON
)

// appendJSON appends v, planned by p, to dst.
func appendJSON(dst []byte, p *plan, v reflect.Value, st style) []byte {
	if p.pointer {
		if v.IsNil() {
			return append(dst, "null"...)
		}
		v = v.Elem()
	}
	switch p.shape {
	case stringShape:
		return appendQuoted(dst, v.String())
	case boolShape:
		return strconv.AppendBool(dst, v.Bool())
	case intShape:
		return strconv.AppendInt(dst, v.Int(), 10)
	case floatShape:
		return appendFloat(dst, v.Float())
	case timeShape:
		return appendEpoch(dst, v.Interface().(time.Time))
	case blobShape:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, v.Bytes())
		return append(dst, '"')
	case listShape:
		dst = append(dst, '[')
		for i := range v.Len() {
			dst = appendComma(dst, '[')
			dst = appendJSON(dst, p.elem, v.Index(i), st)
		}
		return append(dst, ']')
	case mapShape:
		dst = append(dst, '{')
		for key, value := range p.entries(v) {
			dst = appendComma(dst, '{')
			dst = append(appendQuoted(dst, key), ':')
			dst = appendJSON(dst, p.elem, value, st)
		}
		return append(dst, '}')
	}
	return appendJSONStructure(dst, p, v, st)
}

func appendJSONStructure(dst []byte, p *plan, v reflect.Value, st style) []byte {
	dst = append(dst, '{')
	for i := range p.fields {
		f := &p.fields[i]
		fv := v.FieldByIndex(f.index)
		present := f.present(fv)
		name := f.json
		if st == queryJSON {
			if name = f.wrapper; f.query == "" {
				continue
			}
		} else if !present || name == "" {
			continue
		}
		dst = appendComma(dst, '{')
		dst = append(dst, '"')
		dst = append(dst, name...)
		dst = append(dst, '"', ':')
		switch {
		case !present:
			dst = append(dst, "null"...)
		case st == queryJSON && f.plan.shape == mapShape:
			dst = appendPairs(dst, f, fv)
		default:
			dst = appendJSON(dst, f.plan, fv, st)
		}
	}
	return append(dst, '}')
}

// appendPairs appends the map v in the style of queryJSON.
func appendPairs(dst []byte, f *field, v reflect.Value) []byte {
	dst = append(dst, '[')
	for key, value := range f.plan.entries(v) {
		dst = appendComma(dst, '[')
		dst = append(dst, `{"`...)
		dst = append(dst, f.key...)
		dst = append(dst, `":`...)
		dst = appendQuoted(dst, key)
		dst = append(dst, `,"`...)
		dst = append(dst, f.value...)
		dst = append(dst, `":`...)
		dst = appendJSON(dst, f.plan.elem, value, queryJSON)
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// appendComma appends a comma unless dst ends with open, so that no comma comes before a first element.
func appendComma(dst []byte, open byte) []byte {
	if dst[len(dst)-1] == open {
		return dst
	}
	return append(dst, ',')
}
