package sqs

import (
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/consumers"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// consumer is the caller as a consumer.
func consumer(c *protocol.Call) consumers.Who {
	return consumers.Who{Principal: service.Caller(c).ARN, Address: c.SourceIP, Agent: c.UserAgent}
}

// consumption records the consumers of queues, if there is a log of them.
type consumption struct {
	log *consumers.Log
	now func() time.Time
}

// received records that the caller has received, or tried to.
func (l consumption) received(c *protocol.Call, id queue.ID, most int, wait time.Duration, messages []shard.Message) {
	if l.log == nil {
		return
	}
	r := consumers.Receive{Waits: wait > 0, Max: most, Messages: make([]uint64, len(messages))}
	for i := range messages {
		r.Messages[i] = uint64(messages[i].Position)
	}
	l.log.Received(uint64(id), consumer(c), l.now(), r)
}

// deleted records that the caller has deleted messages: those of the receipts that were not refused.
func (l consumption) deleted(c *protocol.Call, id queue.ID, receipts []queue.Receipt, results []error) {
	if l.log == nil {
		return
	}
	var gone []uint64
	for i, err := range results {
		if err == nil {
			gone = append(gone, uint64(receipts[i].Position))
		}
	}
	l.log.Deleted(uint64(id), consumer(c), l.now(), gone)
}
