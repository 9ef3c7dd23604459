package queue

import "time"

// HistogramBounds are the upper bounds of the buckets of a Histogram, but for the last, which has none.
var HistogramBounds = [...]time.Duration{
	10 * time.Millisecond, 50 * time.Millisecond, 250 * time.Millisecond, time.Second, 5 * time.Second,
	30 * time.Second,
	2 * time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour,
}

// Histogram says how often something took how long. It is kept in memory only.
type Histogram struct {
	Buckets [len(HistogramBounds) + 1]uint64 // each without those before it
	Sum     time.Duration
}

// Observe counts something that took so long. A clock that was set back makes it no time.
func (h *Histogram) Observe(took time.Duration) {
	took = max(0, took)
	i := 0
	for i < len(HistogramBounds) && took > HistogramBounds[i] {
		i++
	}
	h.Buckets[i]++
	h.Sum += took
}

// Add returns both together. Either may be nil: then nothing was observed.
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
