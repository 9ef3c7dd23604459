package spans

import (
	"encoding/binary"
	"strings"
)

// Spans are encoded in OTLP, version 1, in protobuf. The messages, with the numbers of the fields that are used:
//
//	ExportTraceServiceRequest  1 ResourceSpans, repeated
//	ResourceSpans              1 Resource, 2 ScopeSpans, 3 schema URL
//	Resource                   1 KeyValue, repeated
//	ScopeSpans                 1 InstrumentationScope, 2 Span, repeated
//	InstrumentationScope       1 name, 2 version
//	Span                       1 trace, 2 id, 3 state of the trace, 4 parent, 5 name, 6 kind, 7 start, 8 end,
//	                           9 KeyValue, repeated, 15 Status, 16 flags
//	Status                     3 code
//	KeyValue                   1 key, 2 AnyValue
//	AnyValue                   1 text, 3 number

// schema is the version of OpenTelemetry's names of attributes.
const schema = "https://opentelemetry.io/schemas/1.43.0"

const (
	statusError = 2
	// Above the flags of the trace: the span says whether its parent belongs to another process, and it does.
	saysRemote = 0x100
	isRemote   = 0x200
)

// Types of fields on the wire.
const (
	varintType  = 0
	fixed64Type = 1
	bytesType   = 2
	fixed32Type = 5
)

// message is an encoded message of protobuf, or the beginning of one. A field with the zero value is left out.
type message []byte

func (m *message) tag(field, wireType uint64) { *m = binary.AppendUvarint(*m, field<<3|wireType) }

func (m *message) varint(field, v uint64) {
	if v != 0 {
		m.tag(field, varintType)
		*m = binary.AppendUvarint(*m, v)
	}
}

func (m *message) fixed64(field, v uint64) {
	if v != 0 {
		m.tag(field, fixed64Type)
		*m = binary.LittleEndian.AppendUint64(*m, v)
	}
}

func (m *message) fixed32(field uint64, v uint32) {
	if v != 0 {
		m.tag(field, fixed32Type)
		*m = binary.LittleEndian.AppendUint32(*m, v)
	}
}

func (m *message) text(field uint64, s string) {
	if s != "" {
		m.bytes(field, valid(s))
	}
}

// valid returns a text that a collector accepts. One invalid text would make it refuse the whole request.
func valid(s string) []byte { return []byte(strings.ToValidUTF8(s, "\uFFFD")) }

// bytes adds a field, even if it is empty: an element of a list, or a message that is there.
func (m *message) bytes(field uint64, b []byte) {
	m.tag(field, bytesType)
	*m = binary.AppendUvarint(*m, uint64(len(b)))
	*m = append(*m, b...)
}

// encode encodes spans of this server.
func encode(resource attributes, version string, spans []*span) []byte {
	var scope, scoped, sender, of, request message
	scope.text(1, "github.com/sluicemq/sluice")
	scope.text(2, version)
	scoped.bytes(1, scope)
	for _, s := range spans {
		scoped.bytes(2, s.encode())
	}
	sender.attributes(1, resource)
	of.bytes(1, sender)
	of.bytes(2, scoped)
	of.text(3, schema)
	request.bytes(1, of)
	return request
}

func (s *span) encode() message {
	m := make(message, 0, 1024)
	m.bytes(1, s.trace[:])
	m.bytes(2, s.id[:])
	m.text(3, s.state)
	if s.hasSpan() {
		m.bytes(4, s.span[:])
	}
	m.text(5, s.name)
	m.varint(6, uint64(s.kind))
	m.fixed64(7, uint64(max(0, s.start.UnixNano())))
	m.fixed64(8, uint64(max(0, s.end.UnixNano())))
	m.attributes(9, s.attrs)
	var status message
	if s.failed {
		status.varint(3, statusError)
	}
	m.bytes(15, status)
	flags := uint32(s.flags) | saysRemote
	if s.hasSpan() {
		flags |= isRemote
	}
	m.fixed32(16, flags)
	return m
}

func (m *message) attributes(field uint64, list attributes) {
	for i := range list {
		var pair, value message
		a := &list[i]
		if a.isNumber {
			value.tag(3, varintType)
			value = binary.AppendUvarint(value, uint64(a.number))
		} else {
			value.bytes(1, valid(a.text))
		}
		pair.text(1, a.key)
		pair.bytes(2, value)
		m.bytes(field, pair)
	}
}
