package catalog

import "strconv"

// TagShards is the tag that says over how many shards a queue is to be spread,
// from 1 to MaxSpread. Where there are fewer shards it is spread over all.
const (
	TagShards = "sluice:shards"
	MaxSpread = 64
)

// ParseSpread reads the value of TagShards.
func ParseSpread(value string) (n int, ok bool) {
	n, err := strconv.Atoi(value)
	return n, err == nil && 1 <= n && n <= MaxSpread && strconv.Itoa(n) == value
}

// Spread returns over how many shards the queue is to be spread by its tag, or
// 0 if it has none.
func (q *Queue) Spread() int {
	n, ok := ParseSpread(q.Tags[TagShards])
	if !ok {
		return 0
	}
	return n
}

// SpreadNow returns over how many shards new messages of the queue are spread.
func (q *Queue) SpreadNow() int {
	if q.Sends > 0 {
		return q.Sends
	}
	return max(1, len(q.Shards))
}

// ByGroup reports whether messages of different groups have so little to do
// with each other that the queue, a FIFO queue, can be on several shards.
func (a *Attributes) ByGroup() bool {
	return a.DedupScope == "messageGroup" && a.Throughput == "perMessageGroupId"
}
