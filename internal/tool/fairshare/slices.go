package fairshare

import "context"

// Slices divides the time of computations that may take seconds. Each takes a place as soon as it has cost more than a
// little, and after each slice leaves it to the name whose turn it is. So the computations of a name delay those of
// others by slices, however many there are.
type Slices struct {
	places *Places
	o      SliceOptions
}

// SliceOptions configures Slices. Costs are in any unit.
type SliceOptions struct {
	Places int // how many computations run at a time
	Free   int // the cost of a computation that needs no place
	Slice  int // the cost after which a computation gives its place back, and takes it again
}

// NewSlices returns Slices that nothing uses.
func NewSlices(o SliceOptions) *Slices { return &Slices{New(Options{Places: o.Places}), o} }

// Begin returns a computation for the last of the names, which belongs to those before it. It belongs to one goroutine.
func (s *Slices) Begin(ctx context.Context, names ...string) *Computation {
	return &Computation{slices: s, ctx: ctx, names: names}
}

// Computation is a computation in progress. It must end.
type Computation struct {
	slices *Slices
	ctx    context.Context
	names  []string
	free   int // what it has cost without a place
	used   int // what it has cost since it took its place
	give   func()
}

// Spend waits for the right to do something of a cost. It returns the cause of the context if that has ended.
func (c *Computation) Spend(cost int) (err error) {
	if c.ctx.Err() != nil {
		return context.Cause(c.ctx)
	}
	if c.free+cost <= c.slices.o.Free {
		c.free += cost
		return nil
	}
	if c.give == nil || c.used >= c.slices.o.Slice {
		c.End()
		if c.give, err = c.slices.places.Take(c.ctx, c.names...); err != nil {
			return err
		}
	}
	c.used += cost
	return nil
}

// End gives the place of the computation back, if it has one.
func (c *Computation) End() {
	if c.give != nil {
		c.give()
	}
	c.give, c.used = nil, 0
}
