package spans

import (
	"encoding/binary"
	"math/rand/v2"
	"time"
)

type (
	traceID [16]byte
	spanID  [8]byte
)

// Flags of a trace, as in the header traceparent.
const (
	flagSampled = 1 << iota
	flagRandom
)

// origin is the place in a trace where a client or producer began. Its trace and its span are 0 if they are unknown.
type origin struct {
	trace traceID
	span  spanID
	flags byte
	state string // of the vendors in the trace: the header tracestate
}

func (o *origin) hasTrace() bool  { return o.trace != traceID{} }
func (o *origin) hasSpan() bool   { return o.span != spanID{} }
func (o *origin) isSampled() bool { return o.flags&flagSampled != 0 }

// kind is the role of a span, with its number in OTLP.
type kind uint64

const (
	internalKind kind = 1
	serverKind   kind = 2
)

// span is a finished span. Spans are created when what they describe has ended.
type span struct {
	origin     // the trace, and the span's parent
	id         spanID
	kind       kind
	name       string
	start, end time.Time
	attrs      attributes
	failed     bool
}

// attribute is one attribute of a span: a text or a number.
type attribute struct {
	key, text string
	number    int64
	isNumber  bool
}

func text(key, value string) attribute { return attribute{key: key, text: value} }
func number(key string, value int64) attribute {
	return attribute{key: key, number: value, isNumber: true}
}

// attributes have a key once each.
type attributes []attribute

// set adds attributes. They replace those with the same key.
func (a *attributes) set(more ...attribute) {
next:
	for _, one := range more {
		for i := range *a {
			if (*a)[i].key == one.key {
				(*a)[i] = one
				continue next
			}
		}
		*a = append(*a, one)
	}
}

// finish gives a span its place in a trace, and sends it if the sampler wants it.
func (t *Tracer) finish(s *span) {
	for !s.hasTrace() {
		binary.BigEndian.PutUint64(s.trace[:8], rand.Uint64())
		binary.BigEndian.PutUint64(s.trace[8:], rand.Uint64())
	}
	if !t.sampler.wants(&s.origin) {
		return
	}
	s.flags |= flagSampled
	for s.id == (spanID{}) {
		binary.BigEndian.PutUint64(s.id[:], rand.Uint64())
	}
	t.send(s)
}
