package spans

import (
	"context"
	"encoding/hex"
	"strings"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Names of what carries a trace.
const (
	traceParent = "traceparent" // of W3C: a header of a request, or an attribute of a message
	traceState  = "tracestate"
	xrayHeader  = "X-Amzn-Trace-Id"
)

// maxHeader is the maximum length of a header that is read, in bytes.
const maxHeader = 1024

// parentOf returns the parent span, named in one of two ways, the first of which takes precedence, and whether it is
// sampled. Without a parent, a span begins a new trace.
func parentOf(w3c func(name string) string, xray string) (parent trace.SpanContext, wanted bool) {
	if w3c != nil && w3c(traceParent) != "" {
		ctx := propagation.TraceContext{}.Extract(context.Background(), carrier(w3c))
		if sc := trace.SpanContextFromContext(ctx); sc.IsValid() {
			return sc, sc.IsSampled()
		}
	}
	sc, wanted, ok := parseXRay(xray)
	return sc, wanted || !ok
}

// carrier lets OpenTelemetry read the results of a function.
type carrier func(name string) string

// Get implements propagation.TextMapCarrier.
func (c carrier) Get(name string) string {
	if v := c(name); len(v) <= maxHeader {
		return v
	}
	return ""
}

// Set implements propagation.TextMapCarrier. Nothing is written.
func (carrier) Set(string, string) {}

// Keys implements propagation.TextMapCarrier.
func (carrier) Keys() []string { return []string{traceParent, traceState} }

// parseXRay reads a header such as
//
//	Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1
//
// and reports whether it names a trace, and whether spans of it are wanted. Without Sampled, or with Sampled=?, the
// next service decides: then the parent has no span, so that the sampler takes it for the beginning of its trace.
func parseXRay(header string) (parent trace.SpanContext, wanted, ok bool) {
	if header == "" || len(header) > maxHeader {
		return trace.SpanContext{}, false, false
	}
	config := trace.SpanContextConfig{Remote: true}
	sampled := ""
	for field := range strings.SplitSeq(header, ";") {
		key, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		switch key {
		case "Root":
			if !xrayTrace(value, &config.TraceID) {
				return trace.SpanContext{}, false, false
			}
		case "Parent":
			id, err := hex.DecodeString(value)
			if err != nil || len(id) != len(config.SpanID) {
				return trace.SpanContext{}, false, false
			}
			copy(config.SpanID[:], id)
		case "Sampled":
			sampled = value
		}
	}
	if !config.TraceID.IsValid() {
		return trace.SpanContext{}, false, false
	}
	switch sampled {
	case "0":
		return trace.SpanContext{}, false, true
	case "1":
		config.TraceFlags = trace.FlagsSampled
	default:
		config.SpanID = trace.SpanID{}
	}
	return trace.NewSpanContext(config), true, true
}

// xrayTrace reads an id such as 1-5759e988-bd862e3fe1be46a994272793.
func xrayTrace(text string, id *trace.TraceID) bool {
	if len(text) != 35 || text[:2] != "1-" || text[10] != '-' {
		return false
	}
	b, err := hex.DecodeString(text[2:10] + text[11:])
	if err != nil {
		return false
	}
	copy(id[:], b)
	return true
}
