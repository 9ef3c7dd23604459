package catalog

import "strconv"

// TagShards is the tag with the number of shards that a queue is spread over, from 1 to MaxSpread. If there are fewer
// shards, the queue is spread over all of them.
const (
	TagShards = "sluice:shards"
	MaxSpread = 64
)

// ParseSpread parses the value of TagShards.
func ParseSpread(value string) (n int, ok bool) {
	n, err := strconv.Atoi(value)
	return n, err == nil && 1 <= n && n <= MaxSpread && strconv.Itoa(n) == value
}

// Spread returns the number of shards in the queue's tag, or 0 if it has none.
func (q *Queue) Spread() int {
	n, ok := ParseSpread(q.Tags[TagShards])
	if !ok {
		return 0
	}
	return n
}

// SpreadNow returns the number of shards that new messages of the queue are spread over.
func (q *Queue) SpreadNow() int {
	if q.Sends > 0 {
		return q.Sends
	}
	return max(1, len(q.Shards))
}

// ByGroup reports whether the message groups of a FIFO queue are independent of each other, so that the queue can be
// on several shards.
func (a *Attributes) ByGroup() bool {
	return a.DedupScope == "messageGroup" && a.Throughput == "perMessageGroupId"
}
