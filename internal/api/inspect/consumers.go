package inspect

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/observe/consumers"
)

type listConsumersOutput struct {
	Consumers   []shownConsumer `json:",always"` // the busiest first
	SilentNodes []string        // which have not answered
}

// shownConsumer is a consumer. Its numbers cover the last ten minutes, or the time since it was first seen if that is
// shorter.
type shownConsumer struct {
	Principal          string // ARN, or anonymous
	Address            string
	Agent              string
	FirstSeenTimestamp int64 // milliseconds
	LastSeenTimestamp  int64
	CallsPerMinute     float64
	EmptyShare         float64 // of the calls, those that were given nothing
	ShortPollShare     float64 // of the calls, those that did not wait
	Received           int64
	Deleted            int64
	MedianTimeToDelete *int64   // milliseconds, about
	P99TimeToDelete    *int64   // 99% were deleted within it, about
	Advice             []reason `json:",always"`
}

func (s *inspector) listConsumers(ctx context.Context, c *protocol.Call, in *queueInput) (*listConsumersOutput, error) {
	q, err := s.queue(c, in.QueueUrl, "ListConsumers")
	if err != nil {
		return nil, err
	}
	list, silent, err := s.consumers(ctx, q.ID)
	if err != nil {
		return nil, failure(err)
	}
	return &listConsumersOutput{
		Consumers:   service.Convert(list, func(c consumers.Consumer) shownConsumer { return showConsumer(q, &c) }),
		SilentNodes: silent,
	}, nil
}

func showConsumer(q *catalog.Queue, c *consumers.Consumer) shownConsumer {
	out := shownConsumer{
		Principal: c.Principal, Address: c.Address, Agent: c.Agent, FirstSeenTimestamp: c.First.UnixMilli(),
		LastSeenTimestamp: c.Last.UnixMilli(),
		CallsPerMinute:    math.Round(100*float64(c.Calls)/max(1, c.Minutes)) / 100,
		EmptyShare:        share(c.Empty, c.Calls),
		ShortPollShare:    share(c.ShortCalls, c.Calls), Received: int64(c.Received), Deleted: int64(c.Deleted),
		Advice: advice(q, c),
	}
	if out.Principal == "" {
		out.Principal = "anonymous"
	}
	if d, ok := c.Quantile(0.5); ok {
		ms := d.Milliseconds()
		out.MedianTimeToDelete = &ms
	}
	if d, ok := c.Quantile(0.99); ok {
		ms := d.Milliseconds()
		out.P99TimeToDelete = &ms
	}
	return out
}

// share returns a share of all, to two digits.
func share(some, all uint64) float64 {
	if all == 0 {
		return 0
	}
	return math.Round(100*float64(some)/float64(all)) / 100
}

// adviceFrom is how many calls or messages there have to be before there is advice.
const adviceFrom = 20

// advice suggests improvements to a consumer.
func advice(q *catalog.Queue, c *consumers.Consumer) []reason {
	list := []reason{}
	add := func(code, format string, args ...any) {
		list = append(list, reason{code, fmt.Sprintf(format, args...)})
	}
	percent := func(some, all uint64) uint64 { return (100*some + all/2) / all }
	if c.ShortCalls >= adviceFrom && 2*c.ShortEmpty > c.ShortCalls {
		add(
			"ShortPolling",
			"%d%% of the receives that do not wait are empty. With WaitTimeSeconds=20 they cost nothing while there is no message.",
			percent(c.ShortEmpty, c.ShortCalls),
		)
	}
	if c.SingleFull >= 10*adviceFrom && 10*c.SingleFull > 9*c.Calls {
		add(
			"SmallBatches",
			"It asks for one message at a time, and there is one nearly always. MaxNumberOfMessages=10 takes a tenth of the calls.",
		)
	}
	if c.Received >= adviceFrom && c.Deleted == 0 {
		add("NoDeletes", "It has received %d messages and deleted none: "+
			"they become visible again when their visibility timeout ends.", c.Received)
	}
	visibility := time.Duration(q.Attributes.VisibilitySeconds) * time.Second
	if p99, ok := c.Quantile(0.99); ok && p99 > visibility {
		add(
			"ShortVisibility",
			"Some messages are deleted only after about %s, and the queue's visibility timeout is %s: others receive them meanwhile.",
			p99,
			visibility,
		)
	}
	return list
}
