package sqsbuffer

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

const (
	// gathering is how long a receiver with a free slot waits for more slots, to avoid receiving message by message.
	gathering = 10 * time.Millisecond

	firstPause, longestPause = time.Second, 30 * time.Second // after failed receives
)

// receiveAll receives until the context ends. While receives are full, it starts further receivers.
func (c *consumer) receiveAll(ctx context.Context, stop context.CancelFunc) {
	pause := firstPause
	for {
		n, got, err := c.receiveSome(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			var missing *types.QueueDoesNotExist
			if errors.As(err, &missing) {
				c.mu.Lock()
				c.fatal = err
				c.mu.Unlock()
				stop()
				return
			}
			c.OnError(err)
			if !sleep(ctx, pause) {
				return
			}
			pause = min(2*pause, longestPause)
			continue
		case got == n:
			c.reinforce(ctx)
		}
		pause = firstPause
	}
}

// reinforce starts another receiver, which ends when a receive returns fewer messages than requested.
func (c *consumer) reinforce(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.polling >= c.receivers-1 || len(c.slots) == cap(c.slots) {
		return
	}
	c.polling++
	c.running.Go(func() {
		for {
			n, got, err := c.receiveSome(ctx)
			if err != nil || got < n || ctx.Err() != nil {
				break
			}
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.polling--
	})
}

// receiveSome requests as many messages as there are slots, and starts the handlers of those that arrive.
func (c *consumer) receiveSome(ctx context.Context) (n, got int, err error) {
	n = c.acquire(ctx)
	if n == 0 {
		return 0, 0, nil
	}
	// If the receive were cut off, its messages would stay invisible for their timeout.
	receiving, cutOff := context.WithCancel(context.WithoutCancel(ctx))
	defer cutOff()
	defer context.AfterFunc(ctx, func() {
		if sleep(receiving, aboutToBeAnswered) {
			cutOff()
		}
	})()
	out, err := c.from.receive(receiving, &sqs.ReceiveMessageInput{
		QueueUrl: &c.queue, MaxNumberOfMessages: int32(n), WaitTimeSeconds: 20,
		VisibilityTimeout:           int32(c.VisibilityTimeout / time.Second),
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
		MessageAttributeNames:       c.MessageAttributeNames,
	})
	if err == nil {
		got = len(out.Messages)
	}
	c.release(n - got)
	if err != nil {
		return n, 0, err
	}
	for _, chain := range c.chains(out.Messages) {
		c.running.Go(func() { c.handleInOrder(chain) })
	}
	return n, got, nil
}

// acquire waits for a slot, and takes up to ten. It takes none when the context has ended.
func (c *consumer) acquire(ctx context.Context) (n int) {
	if ctx.Err() != nil {
		return 0
	}
	select {
	case c.slots <- struct{}{}:
	case <-ctx.Done():
		return 0
	}
	timer := time.NewTimer(gathering)
	defer timer.Stop()
	for n = 1; n < min(10, cap(c.slots)); n++ {
		select {
		case c.slots <- struct{}{}:
			continue
		default:
		}
		select {
		case c.slots <- struct{}{}:
		case <-timer.C:
			return n
		case <-ctx.Done():
			c.release(n)
			return 0
		}
	}
	return n
}

func (c *consumer) release(n int) {
	for range n {
		<-c.slots
	}
}

// sleep returns false if the context ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
