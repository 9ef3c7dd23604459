package sqsbuffer

import (
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// beat extends the visibility timeouts of the consumer's messages until the consumer has ended. A message is due when
// half of its time has passed, and again when a quarter is left: one request may fail.
func (c *consumer) beat(ended <-chan struct{}) {
	var extensions sync.WaitGroup
	defer extensions.Wait()
	ticks := time.NewTicker(c.VisibilityTimeout / 4)
	defer ticks.Stop()
	for {
		select {
		case <-ended:
			return
		case <-c.settling.Done():
			return
		case now := <-ticks.C:
			c.mu.Lock()
			for d := range c.held {
				timeout := min(c.VisibilityTimeout, d.received.Add(longest-time.Second).Sub(now)).Truncate(time.Second)
				switch left := d.until.Sub(now); {
				case left <= 0:
					d.lost(ErrMessageLost)
				case left <= c.VisibilityTimeout/2 && timeout > left && d.tryBegin():
					extensions.Go(func() { c.extend(d, now, timeout) })
				}
			}
			c.mu.Unlock()
		}
	}
}

// extend hides a message for a timeout from now on.
func (c *consumer) extend(d *delivery, now time.Time, timeout time.Duration) {
	defer d.end()
	_, err := c.from.ChangeMessageVisibility(c.settling, &sqs.ChangeMessageVisibilityInput{
		QueueUrl: &c.queue, ReceiptHandle: d.message.ReceiptHandle, VisibilityTimeout: int32(timeout / time.Second),
	}, c.settles...)
	if err != nil {
		c.OnError(fmt.Errorf("sqsbuffer: the heartbeat of message %s: %w", *d.message.MessageId, err))
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	d.until = now.Add(timeout)
}
