package spans

import (
	"encoding/hex"
	"regexp"
	"strings"
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
func parentOf(w3c func(name string) string, xray string) (parent origin, wanted bool) {
	if w3c != nil {
		if parent, ok := parseTraceParent(w3c(traceParent)); ok {
			parent.state = validState(w3c(traceState))
			return parent, parent.isSampled()
		}
	}
	parent, wanted, ok := parseXRay(xray)
	return parent, wanted || !ok
}

// parseTraceParent reads a header such as
//
//	00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
//
// and reports whether it names a span. Later versions may have more fields.
func parseTraceParent(header string) (parent origin, ok bool) {
	field := strings.Split(header, "-")
	var version, flags [1]byte
	if len(header) > maxHeader || len(field) < 4 || !lowerHex(version[:], field[0]) || !lowerHex(parent.trace[:], field[1]) ||
		!lowerHex(parent.span[:], field[2]) || !lowerHex(flags[:], field[3]) || !parent.hasTrace() || !parent.hasSpan() {
		return origin{}, false
	}
	if version[0] == 0xff || version[0] == 0 && (len(field) > 4 || flags[0] > flagSampled|flagRandom) {
		return origin{}, false
	}
	parent.flags = flags[0] & (flagSampled | flagRandom)
	return parent, true
}

// lowerHex reads a number that fills dst, in lower-case hexadecimal.
func lowerHex(dst []byte, text string) bool {
	if len(text) != hex.EncodedLen(len(dst)) || strings.ToLower(text) != text {
		return false
	}
	_, err := hex.Decode(dst, []byte(text))
	return err == nil
}

// maxStates is the maximum number of vendors in the header tracestate.
const maxStates = 32

// stateMember is a vendor's entry in the header tracestate.
var stateMember = regexp.MustCompile(`^([a-z][a-z0-9_\-*/]{0,255}|[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13})` +
	`=[ -+\--<>-~]{0,255}[!-+\--<>-~]$`)

// validState returns the header tracestate without empty entries, or "" if it is invalid, as W3C asks for.
func validState(header string) string {
	if len(header) > maxHeader {
		return ""
	}
	var members []string
	known := make(map[string]bool)
	for member := range strings.SplitSeq(header, ",") {
		if member = strings.Trim(member, " \t"); member == "" {
			continue
		}
		key, _, _ := strings.Cut(member, "=")
		if known[key] || len(members) == maxStates || !stateMember.MatchString(member) {
			return ""
		}
		known[key] = true
		members = append(members, member)
	}
	return strings.Join(members, ",")
}

// parseXRay reads a header such as
//
//	Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1
//
// and reports whether it names a trace, and whether spans of it are wanted. Without Sampled, or with Sampled=?, the
// next service decides: then the parent has no span, so that the sampler takes it for the beginning of its trace.
func parseXRay(header string) (parent origin, wanted, ok bool) {
	if header == "" || len(header) > maxHeader {
		return origin{}, false, false
	}
	sampled := ""
	for field := range strings.SplitSeq(header, ";") {
		key, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		switch key {
		case "Root":
			if !xrayTrace(value, &parent.trace) {
				return origin{}, false, false
			}
		case "Parent":
			id, err := hex.DecodeString(value)
			if err != nil || len(id) != len(parent.span) {
				return origin{}, false, false
			}
			copy(parent.span[:], id)
		case "Sampled":
			sampled = value
		}
	}
	if !parent.hasTrace() {
		return origin{}, false, false
	}
	switch sampled {
	case "0":
		return origin{}, false, true
	case "1":
		parent.flags = flagSampled
	default:
		parent.span = spanID{}
	}
	return parent, true, true
}

// xrayTrace reads an id such as 1-5759e988-bd862e3fe1be46a994272793.
func xrayTrace(text string, id *traceID) bool {
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
