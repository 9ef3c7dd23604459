package series

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
	"unsafe"
)

// Dimension is a name and a value that distinguish series of one metric.
type Dimension struct{ Name, Value string }

// Scope is the scope of a name: a region of an account.
type Scope struct{ Account, Region string }

// Compare orders scopes by account, then by region.
func (s Scope) Compare(o Scope) int {
	return cmp.Or(strings.Compare(s.Account, o.Account), strings.Compare(s.Region, o.Region))
}

// ID identifies a series. The order of its dimensions does not matter.
type ID struct {
	Scope
	Namespace  string
	Metric     string
	Dimensions []Dimension
	// Unit narrows a series to the samples of one unit; empty: all. Series that differ only by it compare as equal.
	Unit string `json:",omitempty"`
}

// Equal reports whether both are the same series.
func (id ID) Equal(other ID) bool { return id.Compare(other) == 0 }

// Compare orders series by scope, namespace, metric and dimensions.
func (id ID) Compare(other ID) int {
	c := slices.Compare(
		[]string{id.Account, id.Region, id.Namespace, id.Metric},
		[]string{other.Account, other.Region, other.Namespace, other.Metric},
	)
	if c != 0 {
		return c
	}
	return slices.CompareFunc(sorted(id.Dimensions), sorted(other.Dimensions), Dimension.compare)
}

func (d Dimension) compare(e Dimension) int {
	if c := strings.Compare(d.Name, e.Name); c != 0 {
		return c
	}
	return strings.Compare(d.Value, e.Value)
}

func sorted(dimensions []Dimension) []Dimension {
	return slices.SortedFunc(slices.Values(dimensions), Dimension.compare)
}

// Filter selects series. Empty fields match all.
type Filter struct {
	Scope
	Namespace  string
	Metric     string
	Dimensions []Dimension // all must exist; one without a value matches every value
	Since      time.Time   // with a point since then
}

// Matches reports whether the filter selects a series. It ignores Since.
func (f Filter) Matches(id ID) bool {
	return f.Scope == id.Scope && (f.Namespace == "" || f.Namespace == id.Namespace) &&
		(f.Metric == "" || f.Metric == id.Metric) &&
		!slices.ContainsFunc(f.Dimensions, func(want Dimension) bool {
			return !slices.ContainsFunc(id.Dimensions, func(d Dimension) bool {
				return d.Name == want.Name && (want.Value == "" || d.Value == want.Value)
			})
		})
}

// IDBytes is the memory of a series' ID with one dimension that shares its texts with others.
const IDBytes = int(unsafe.Sizeof(ID{}) + unsafe.Sizeof(Dimension{}))

// Reader reads points. It counts points for the request of its context, if that has one, before it reads them; see
// package budget. The IDs that List returns count as held until the request ends, points not at all.
type Reader interface {
	// Read returns the points of a series from an instant up to but not including another, in order of time. The
	// periods begin at from, which is rounded down to a minute; a period is one that IsPeriod. Of periods below a
	// minute, for which from is rounded down to a period, only metrics of high resolution have points. Data older than
	// the minutes that are kept has points at the beginnings of five minutes or of hours only. A period without samples
	// has no point, and a series that is unknown has none. The current minute is missing: it is not over.
	Read(ctx context.Context, id ID, from, to time.Time, period time.Duration) ([]Point, error)
	// ReadSamples is Read for points with their samples, if they are known. See package sketch.
	ReadSamples(ctx context.Context, id ID, from, to time.Time, period time.Duration) ([]Point, error)
	// List returns the series that a filter selects, in order.
	List(ctx context.Context, f Filter) ([]ID, error)
}
