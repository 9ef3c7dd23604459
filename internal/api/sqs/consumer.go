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

// keepReceived records that the caller has received, or tried to.
func (s *Service) keepReceived(c *protocol.Call, id queue.ID, most int, wait time.Duration, messages []shard.Message) {
	if s.consumers == nil {
		return
	}
	r := consumers.Receive{Waits: wait > 0, Max: most, Messages: make([]uint64, len(messages))}
	for i := range messages {
		r.Messages[i] = uint64(messages[i].Position)
	}
	s.consumers.Received(uint64(id), consumer(c), s.now(), r)
}

// keepDeleted records that the caller has deleted messages: those of the receipts that were not refused.
func (s *Service) keepDeleted(c *protocol.Call, id queue.ID, receipts []queue.Receipt, results []error) {
	if s.consumers == nil {
		return
	}
	var deleted []uint64
	for i, err := range results {
		if err == nil {
			deleted = append(deleted, uint64(receipts[i].Position))
		}
	}
	s.consumers.Deleted(uint64(id), consumer(c), s.now(), deleted)
}
