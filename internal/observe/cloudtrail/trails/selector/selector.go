// Package selector decides which events a trail gets: the basic and the advanced event selectors of AWS CloudTrail. It
// is pure.
//
// A trail gets an event if one of its selectors takes it, and each event once. A trail without selectors gets all
// management events.
package selector

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trail"
)

// Basic is a basic event selector.
type Basic struct {
	ReadWrite      string   // All, ReadOnly or WriteOnly
	NoManagement   bool     `json:",omitempty"` // exclude management events
	ExcludeSources []string `json:",omitempty"` // services whose management events are excluded

	DataResources []DataResource `json:",omitempty"` // whose data events are wanted; there are none of these here
}

// DataResource is a resource of a service that this server does not have. It is stored and shown for programs that set
// up all trails alike, such as Terraform modules, and selects nothing.
type DataResource struct {
	Type   string
	Values []string `json:",omitempty"` // ARNs, or their beginnings
}

// The values of Basic.ReadWrite.
const (
	All       = "All"
	ReadOnly  = "ReadOnly"
	WriteOnly = "WriteOnly"
)

// Advanced is an advanced event selector: it selects an event if all of its fields match.
type Advanced struct {
	Name   string `json:",omitempty"`
	Fields []Field
}

// Field is the condition on one field of an event. At least one of the first three operators must match, if there are
// any, and none of the others.
type Field struct {
	Name          string
	Equals        []string `json:",omitempty"`
	StartsWith    []string `json:",omitempty"`
	EndsWith      []string `json:",omitempty"`
	NotEquals     []string `json:",omitempty"`
	NotStartsWith []string `json:",omitempty"`
	NotEndsWith   []string `json:",omitempty"`
}

// Set holds the selectors of a trail, all of one kind.
type Set struct {
	Basic    []Basic    `json:",omitempty"`
	Advanced []Advanced `json:",omitempty"`
}

// Empty reports whether there are no selectors.
func (s *Set) Empty() bool { return len(s.Basic)+len(s.Advanced) == 0 }

// Categories of events.
const (
	Management = "Management"
	Data       = "Data"
)

// TakesData reports whether the selectors select data events of a service that this server has.
func (s *Set) TakesData() bool {
	return slices.ContainsFunc(s.Advanced, func(a Advanced) bool {
		return a.asks(fieldCategory, []string{Data}) && a.asks(fieldType, ResourceTypes)
	})
}

// asks reports whether a field must equal one of some values.
func (a *Advanced) asks(name string, values []string) bool {
	return slices.ContainsFunc(a.Fields, func(f Field) bool {
		among := func(v string) bool { return slices.Contains(values, v) }
		return f.Name == name && slices.ContainsFunc(f.Equals, among)
	})
}

// Take reports whether the selectors select the event.
func (s *Set) Take(e *trail.Event) bool {
	switch {
	case len(s.Advanced) > 0:
		return slices.ContainsFunc(s.Advanced, func(a Advanced) bool { return a.take(e) })
	case len(s.Basic) > 0:
		return slices.ContainsFunc(s.Basic, func(b Basic) bool { return b.take(e) })
	}
	return e.EventCategory == Management
}

func (b *Basic) take(e *trail.Event) bool {
	return e.EventCategory == Management && !b.NoManagement &&
		(b.ReadWrite == All || (b.ReadWrite == ReadOnly) == e.ReadOnly) &&
		!slices.Contains(b.ExcludeSources, e.EventSource)
}

func (a *Advanced) take(e *trail.Event) bool {
	for i := range a.Fields {
		if !a.Fields[i].take(e) {
			return false
		}
	}
	return true
}

// The fields of events in selectors.
const (
	fieldCategory = "eventCategory"
	fieldReadOnly = "readOnly"
	fieldType     = "resources.type"
	fieldARN      = "resources.ARN"
	fieldName     = "eventName"
	fieldSource   = "eventSource"
	fieldWho      = "userIdentity.arn"
	fieldKind     = "eventType"
)

// values returns the values of a field of an event. An event can be about several resources.
func values(e *trail.Event, field string) []string {
	var of func(*trail.Resource) string
	switch field {
	case fieldCategory:
		return []string{e.EventCategory}
	case fieldReadOnly:
		return []string{strconv.FormatBool(e.ReadOnly)}
	case fieldName:
		return []string{e.EventName}
	case fieldSource:
		return []string{e.EventSource}
	case fieldWho:
		return []string{e.UserIdentity.ARN}
	case fieldKind:
		return []string{e.EventType}
	case fieldType:
		of = func(r *trail.Resource) string { return r.Type }
	case fieldARN:
		of = func(r *trail.Resource) string { return r.ARN }
	default:
		return nil
	}
	var out []string
	for i := range e.Resources {
		out = append(out, of(&e.Resources[i]))
	}
	return out
}

func (f *Field) take(e *trail.Event) bool {
	all := values(e, f.Name)
	if len(f.Equals)+len(f.StartsWith)+len(f.EndsWith) > 0 && !anyIs(all, f.Equals, f.StartsWith, f.EndsWith) {
		return false
	}
	return !anyIs(all, f.NotEquals, f.NotStartsWith, f.NotEndsWith)
}

// anyIs reports whether one of the values equals one of a list, or begins or ends with one.
func anyIs(values, equals, begins, ends []string) bool {
	return slices.ContainsFunc(values, func(v string) bool {
		return slices.Contains(equals, v) ||
			slices.ContainsFunc(begins, func(s string) bool { return strings.HasPrefix(v, s) }) ||
			slices.ContainsFunc(ends, func(s string) bool { return strings.HasSuffix(v, s) })
	})
}
