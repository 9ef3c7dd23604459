package sqs

import (
	"fmt"

	"github.com/sluicemq/sluice/internal/catalog"
)

// A queue can be spread over several shards, which its tag catalog.TagShards requests. The catalog's placement decides
// the result.

// checkSpread refuses attributes that a FIFO queue on several shards cannot have: a shard knows everything only within
// a message group.
func checkSpread(q *catalog.Queue) error {
	if q.Attributes.FIFO && len(q.Shards) > 1 && q.Attributes.DedupScope != scopeGroup {
		return errAttributeValue(attrDedupScope, fmt.Sprintf(
			"The queue is spread over %d shards by message group, which needs the value %s.", len(q.Shards), scopeGroup))
	}
	return nil
}

// reportSpread logs that a queue, just created or tagged, is not spread as its tag requests. The client does not learn
// this: for SQS the tag has no meaning.
func (r *records) reportSpread(q *catalog.Queue, created bool) {
	asked, got := q.Spread(), q.SpreadNow()
	if asked == 0 || asked == got {
		return
	}
	reason := "there are no more shards"
	switch {
	case q.Attributes.FIFO && !q.Attributes.ByGroup():
		reason = "a FIFO queue is spread only if it is created with DeduplicationScope=messageGroup and FifoThroughputLimit=perMessageGroupId"
	case q.Attributes.FIFO && !created:
		reason = "a FIFO queue keeps the shards that it was created with"
	}
	r.log.Warn(
		"a queue is not spread as its tag says",
		"queue",
		q.Name.ARN(),
		"tag",
		catalog.TagShards,
		"value",
		asked,
		"shards",
		got,
		"reason",
		reason,
	)
}
