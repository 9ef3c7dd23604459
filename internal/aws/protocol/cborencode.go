package protocol

import (
	"encoding/binary"
	"math"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	contentTypeCBOR = "application/cbor"
	// smithyCBOR is what the header Smithy-Protocol says of requests and answers in CBOR.
	smithyCBOR = "rpc-v2-cbor"
)

// appendCBOR appends v, planned by p, to dst.
func appendCBOR(dst []byte, p *plan, v reflect.Value) []byte {
	if p.pointer {
		if v.IsNil() {
			return append(dst, cborSimple<<5|cborNull)
		}
		v = v.Elem()
	}
	switch p.shape {
	case stringShape:
		return appendCBORText(dst, v.String())
	case boolShape:
		if v.Bool() {
			return append(dst, cborSimple<<5|cborTrue)
		}
		return append(dst, cborSimple<<5|cborFalse)
	case intShape:
		if n := v.Int(); n < 0 {
			return appendCBORHead(dst, cborNegative, uint64(-1-n))
		}
		return appendCBORHead(dst, cborUnsigned, uint64(v.Int()))
	case floatShape:
		return appendCBORFloat(dst, v.Float())
	case timeShape:
		return appendCBORTime(dst, v.Interface().(time.Time))
	case blobShape:
		return append(appendCBORHead(dst, cborBytes, uint64(v.Len())), v.Bytes()...)
	case listShape:
		dst = appendCBORHead(dst, cborArray, uint64(v.Len()))
		for i := range v.Len() {
			dst = appendCBOR(dst, p.elem, v.Index(i))
		}
		return dst
	case mapShape:
		dst = appendCBORHead(dst, cborMap, uint64(v.Len()))
		for key, value := range p.entries(v) {
			dst = appendCBOR(appendCBORText(dst, key), p.elem, value)
		}
		return dst
	}
	return appendCBORStructure(dst, p, v)
}

func appendCBORStructure(dst []byte, p *plan, v reflect.Value) []byte {
	return appendCBORMembers(appendCBORHead(dst, cborMap, p.cborMembers(v)), p, v)
}

// cborMembers returns how many members of a structure are present.
func (p *plan) cborMembers(v reflect.Value) (n uint64) {
	for i := range p.fields {
		if f := &p.fields[i]; f.json != "" && f.present(v.FieldByIndex(f.index)) {
			n++
		}
	}
	return n
}

func appendCBORMembers(dst []byte, p *plan, v reflect.Value) []byte {
	for i := range p.fields {
		f := &p.fields[i]
		if fv := v.FieldByIndex(f.index); f.json != "" && f.present(fv) {
			dst = appendCBOR(appendCBORText(dst, f.json), f.plan, fv)
		}
	}
	return dst
}

// appendCBORHead appends the head of an item, in the shortest form.
func appendCBORHead(dst []byte, major byte, arg uint64) []byte {
	first := major << 5
	switch {
	case arg < 24:
		return append(dst, first|byte(arg))
	case arg <= math.MaxUint8:
		return append(dst, first|24, byte(arg))
	case arg <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(dst, first|25), uint16(arg))
	case arg <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(dst, first|26), uint32(arg))
	}
	return binary.BigEndian.AppendUint64(append(dst, first|27), arg)
}

// appendCBORText appends s. Invalid UTF-8 becomes U+FFFD, since a client could not read the answer otherwise.
func appendCBORText(dst []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, string(utf8.RuneError))
	}
	return append(appendCBORHead(dst, cborText, uint64(len(s))), s...)
}

func appendCBORFloat(dst []byte, n float64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, cborSimple<<5|cborFloat64), math.Float64bits(n))
}

// appendCBORTime appends a time to the millisecond.
func appendCBORTime(dst []byte, t time.Time) []byte {
	return appendCBORFloat(append(dst, cborTag<<5|cborEpoch), float64(t.UnixMilli())/1000)
}

// appendErrorCBOR appends an error. The only clients there are read its text under "message" and its type under
// "__type".
func appendErrorCBOR(dst []byte, s *Service, e *Error) []byte {
	n := uint64(1)
	if e.Message != "" {
		n++
	}
	p, v := e.members()
	if p != nil {
		n += p.cborMembers(v)
	}
	dst = appendCBORHead(dst, cborMap, n)
	dst = appendCBORText(appendCBORText(dst, "__type"), e.absoluteType(s))
	if e.Message != "" {
		dst = appendCBORText(appendCBORText(dst, "message"), e.Message)
	}
	if p != nil {
		dst = appendCBORMembers(dst, p, v)
	}
	return dst
}
