// Package series defines time series of metrics: what a metric is, what its points are, for how long they are kept, and
// how they are read.
//
// A point is four numbers: how many samples there were, their sum, the minimum and the maximum. Most statistics of
// every period follow from them: points of a longer period are merged from those of a shorter one. For percentiles a
// point also has its samples, which are read only if they are requested.
//
// A series belongs to a name: a new queue of the same name continues the series, and the points of a deleted queue can
// be read until they are too old.
//
// It guarantees that a point covers at least a whole minute, and never changes after its minute has ended. It does not
// know how points are counted, nor how AWS formats them.
package series
