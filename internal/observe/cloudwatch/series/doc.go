// Package series says what happened, minute by minute: what a metric is, what its
// points are, for how long they are kept, and how they are read.
//
// A point is four numbers: how many samples there were, their sum, the least and the
// greatest. Most statistics of every period follow from them: points of a longer period
// are merged from those of a shorter one. For percentiles a point has its samples, too,
// which are read only if they are asked for.
//
// A series belongs to a name: a new queue of the same name continues the series, and what a deleted queue has left can
// be read until it is too old.
//
// It guarantees that a point is of a whole minute at least and is never changed after
// its minute has ended. It does not know how points are counted, nor how AWS writes them.
package series
