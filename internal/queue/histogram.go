package queue

import "time"

// HistogramBounds holds the upper bounds of the buckets of a Histogram. The last bucket has no bound.
var HistogramBounds = [...]time.Duration{
	10 * time.Millisecond, 50 * time.Millisecond, 250 * time.Millisecond, time.Second, 5 * time.Second,
	30 * time.Second,
	2 * time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour,
}

// Histogram counts events by their duration. It is kept in memory only.
type Histogram struct {
	Buckets [len(HistogramBounds) + 1]uint64 // each without those before it
	Sum     time.Duration
}

// Observe counts an event of the given duration. A negative duration, after the clock was set back, counts as 0.
func (h *Histogram) Observe(took time.Duration) {
	took = max(0, took)
	i := 0
	for i < len(HistogramBounds) && took > HistogramBounds[i] {
		i++
	}
	h.Buckets[i]++
	h.Sum += took
}

// Add returns the sum of both. Nil stands for an empty Histogram.
func (h *Histogram) Add(o *Histogram) *Histogram {
	switch {
	case o == nil:
		return h
	case h == nil:
		return o
	}
	sum := *h
	for i, n := range o.Buckets {
		sum.Buckets[i] += n
	}
	sum.Sum += o.Sum
	return &sum
}

// copied returns a copy of h, or nil.
func (h *Histogram) copied() *Histogram {
	if h == nil {
		return nil
	}
	c := *h
	return &c
}
