package filter

import (
	"encoding/json"
	"strings"
)

// reserved are the names that make a list behind $or a list of conditions: the operators of SNS, and names that it may
// have for operators one day. The rules that Amazon publishes as Event Ruler have the same list.
var reserved = map[string]bool{
	"exactly": true, "equals-ignore-case": true, "prefix": true, "suffix": true, "anything-but": true, "exists": true,
	"wildcard": true, "numeric": true, "cidr": true, "=": true, "<": true, "<=": true, ">": true, ">=": true,
	"regex": true, "not-wildcard": true, "not-equals-ignore-case": true, "date-after": true, "date-on-or-after": true,
	"date-before": true, "date-on-or-before": true, "in-date-range": true, "ip-address-in-range": true,
	"ip-address-not-in-range": true,
}

// isOr reports whether the value behind $or, whose first token has been read, is a list of alternatives: it has at
// least two objects, none of which has a reserved name. Otherwise $or is a name like any other.
func (p *parser) isOr() bool {
	if !p.is('[') {
		return false
	}
	if p.everyOr {
		return true
	}
	if p.alternatives == nil {
		p.alternatives = alternatives(p.source)
	}
	return p.alternatives[p.start]
}

// opened is an object or a list that a scan is in.
type opened struct {
	at       int // where it begins
	isList   bool
	named    bool // of an object: the name of the next member has been read
	objects  int  // of a list: its elements that are objects
	reserved bool // of a list: one of these has a reserved name
}

// alternatives returns where the lists begin that can stand behind $or, in a compact JSON text. It reads the text once,
// so that policies may nest to any depth.
func alternatives(source string) map[int]bool {
	found := make(map[int]bool)
	var stack []opened
	for i := 0; i < len(source); i++ {
		last := len(stack) - 1
		switch source[i] {
		case '{':
			if last >= 0 && stack[last].isList {
				stack[last].objects++
			}
			stack = append(stack, opened{at: i})
		case '[':
			stack = append(stack, opened{at: i, isList: true})
		case '}':
			stack = stack[:last]
		case ']':
			if list := stack[last]; list.objects >= 2 && !list.reserved {
				found[list.at] = true
			}
			stack = stack[:last]
		case ',':
			stack[last].named = false
		case '"':
			end := textEnds(source, i)
			if last > 0 && !stack[last].isList && !stack[last].named && stack[last-1].isList {
				stack[last-1].reserved = stack[last-1].reserved || isReserved(source[i:end])
			}
			if last >= 0 {
				stack[last].named = true
			}
			i = end - 1
		}
	}
	return found
}

// textEnds returns the offset behind the string that begins at an offset.
func textEnds(source string, at int) int {
	for i := at + 1; i < len(source); i++ {
		switch source[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(source)
}

// isReserved reports whether a name, which is written as a JSON string, is reserved.
func isReserved(written string) bool {
	if !strings.Contains(written, `\`) {
		return reserved[strings.Trim(written, `"`)]
	}
	var name string
	return json.Unmarshal([]byte(written), &name) == nil && reserved[name]
}
