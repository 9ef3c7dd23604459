package sns

import (
	"runtime"

	"github.com/sluicemq/sluice/internal/tool/fairshare"
)

// The cost of filter policies, in the unit of filter.Policy.Cost: of a publication that compares them at once, and of
// what a longer one compares before others have their turn. A processor takes some nanoseconds for one.
const (
	freeFiltering  = 4_000_000
	filteringSlice = 16_000_000
)

// newFiltering returns the division of the time that filter policies take. A publication may compare a large message
// with 200 policies of 150 conditions, which takes seconds. Half of the processors remain for all else.
func newFiltering() *fairshare.Slices {
	return fairshare.NewSlices(fairshare.SliceOptions{
		Places: max(1, runtime.GOMAXPROCS(0)/2), Free: freeFiltering, Slice: filteringSlice,
	})
}
