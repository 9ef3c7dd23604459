package server

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// otlpSpan has the fields of a span that tests look at. otlpRequest reads them without the encoder of the server.
type otlpSpan struct {
	TraceId, ParentSpanId              []byte
	Name                               string
	Kind                               uint64
	StartTimeUnixNano, EndTimeUnixNano uint64
	Attributes                         map[string]string
}

// Kinds of spans.
const (
	internalSpan = 1
	serverSpan   = 2
)

// field is a field of a message in protobuf: a number, or bytes.
type field struct {
	name   uint64
	number uint64
	bytes  []byte
}

var errNoProtobuf = errors.New("this is no protobuf")

// fieldsOf reads a message.
func fieldsOf(b []byte) (list []field, err error) {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, errNoProtobuf
		}
		b = b[n:]
		f := field{name: tag >> 3}
		size := 0
		switch tag & 7 {
		case 0:
			f.number, size = binary.Uvarint(b)
		case 1:
			if size = 8; len(b) >= size {
				f.number = binary.LittleEndian.Uint64(b)
			}
		case 2:
			length, n := binary.Uvarint(b)
			if size = n + int(length); n > 0 && len(b) >= size {
				f.bytes = b[n:size]
			}
		case 5:
			if size = 4; len(b) >= size {
				f.number = uint64(binary.LittleEndian.Uint32(b))
			}
		}
		if size <= 0 || len(b) < size {
			return nil, errNoProtobuf
		}
		b = b[size:]
		list = append(list, f)
	}
	return list, nil
}

// eachIn calls f with the fields of that name in a message.
func eachIn(message []byte, name uint64, f func(field) error) error {
	list, err := fieldsOf(message)
	for i := 0; err == nil && i < len(list); i++ {
		if list[i].name == name {
			err = f(list[i])
		}
	}
	return err
}

// otlpRequest reads the spans of a request, and the attributes of their sender.
func otlpRequest(body []byte) (spans []*otlpSpan, resource map[string]string, err error) {
	err = eachIn(body, 1, func(of field) error {
		err := eachIn(of.bytes, 1, func(f field) error {
			resource, err = otlpAttributes(f.bytes, 1)
			return err
		})
		return errors.Join(err, eachIn(of.bytes, 2, func(scope field) error {
			return eachIn(scope.bytes, 2, func(f field) error {
				s, err := readOTLPSpan(f.bytes)
				spans = append(spans, s)
				return err
			})
		}))
	})
	return spans, resource, err
}

func readOTLPSpan(b []byte) (*otlpSpan, error) {
	s := new(otlpSpan)
	list, err := fieldsOf(b)
	if err != nil {
		return nil, err
	}
	for _, f := range list {
		switch f.name {
		case 1:
			s.TraceId = f.bytes
		case 4:
			s.ParentSpanId = f.bytes
		case 5:
			s.Name = string(f.bytes)
		case 6:
			s.Kind = f.number
		case 7:
			s.StartTimeUnixNano = f.number
		case 8:
			s.EndTimeUnixNano = f.number
		}
	}
	s.Attributes, err = otlpAttributes(b, 9)
	return s, err
}

// otlpAttributes reads the attributes in a message.
func otlpAttributes(message []byte, name uint64) (map[string]string, error) {
	out := make(map[string]string)
	err := eachIn(message, name, func(pair field) error {
		var key string
		return errors.Join(
			eachIn(pair.bytes, 1, func(f field) error { key = string(f.bytes); return nil }),
			eachIn(pair.bytes, 2, func(value field) error {
				return errors.Join(
					eachIn(value.bytes, 1, func(f field) error { out[key] = string(f.bytes); return nil }),
					eachIn(value.bytes, 3, func(f field) error { out[key] = fmt.Sprint(f.number); return nil }),
				)
			}),
		)
	})
	return out, err
}
