package sqsbuffer

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// longest is the maximum time for which SQS hides a message after a receive.
const longest = 12 * time.Hour

// A delivery is a message that a consumer has received.
type delivery struct {
	message  types.Message
	received time.Time
	until    time.Time               // when it becomes visible to others
	ctx      context.Context         // of its handler
	lost     context.CancelCauseFunc // ends the context

	request chan struct{} // has an element while a request for it is under way
}

// tryBegin reports whether a heartbeat may be sent. The caller must end it.
func (d *delivery) tryBegin() bool {
	select {
	case d.request <- struct{}{}:
		return true
	default:
		return false
	}
}

func (d *delivery) end() { <-d.request }

// endHeartbeats waits for a heartbeat under way, and prevents further ones: the message will be deleted or released.
func (d *delivery) endHeartbeats() { d.request <- struct{}{} }

func (d *delivery) isLost() bool { return errors.Is(context.Cause(d.ctx), ErrMessageLost) }

// chains divides received messages into chains that can be handled concurrently. In a FIFO queue, the messages of a
// group form one chain. The consumer now holds all of them.
func (c *consumer) chains(messages []types.Message) [][]*delivery {
	var chains [][]*delivery
	groups := make(map[string]int)
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range messages {
		d := &delivery{message: m, received: now, until: now.Add(c.VisibilityTimeout), request: make(chan struct{}, 1)}
		d.ctx, d.lost = context.WithCancelCause(c.handling)
		c.held[d] = struct{}{}
		if isFIFO(c.queue) {
			group := m.Attributes[string(types.MessageSystemAttributeNameMessageGroupId)]
			if i, ok := groups[group]; ok {
				chains[i] = append(chains[i], d)
				continue
			}
			groups[group] = len(chains)
		}
		chains = append(chains, []*delivery{d})
	}
	return chains
}

// handleInOrder handles messages in order, each when the previous one is deleted: otherwise that one could return after
// its successor. When a message fails or cannot be deleted, or the consumer stops, it and the rest are released.
func (c *consumer) handleInOrder(chain []*delivery) {
	for i, d := range chain {
		if c.isStopping() {
			c.giveBack(chain[i:], 0)
			return
		}
		if d.isLost() {
			c.giveBack(chain[i:], 0)
			return
		}
		if err := c.handle(d); err != nil {
			c.OnError(err)
			delay := c.RetryDelay(d.message)
			if c.isStopping() {
				delay = 0
			}
			c.giveBack(chain[i:i+1], delay)
			c.giveBack(chain[i+1:], 0)
			return
		}
		if i == len(chain)-1 {
			c.delete(d, c.settles...)
		} else if !c.delete(d, alone) {
			c.giveBack(chain[i+1:], 0)
			return
		}
	}
}

// alone makes a call unbatched and at once.
func alone(*sqs.Options) {}

func (c *consumer) isStopping() bool {
	select {
	case <-c.stopping:
		return true
	default:
		return false
	}
}

// handle runs the handler in its own goroutine, so the handler cannot end the consumer's.
func (c *consumer) handle(d *delivery) error {
	failed := &HandlerError{Message: d.message}
	done := make(chan struct{})
	go func() {
		defer close(done)
		returned := false
		defer func() {
			if r := recover(); r != nil {
				failed.Err, failed.Stack = fmt.Errorf("panic: %v", r), debug.Stack()
			} else if !returned {
				failed.Err = errors.New("it ended its goroutine")
			}
		}()
		failed.Err = c.handler(d.ctx, d.message)
		returned = true
	}()
	<-done
	if failed.Err != nil {
		return failed
	}
	return nil
}

// delete deletes a handled message, and reports whether it succeeded.
func (c *consumer) delete(d *delivery, options ...func(*sqs.Options)) bool {
	defer c.letGo([]*delivery{d})
	d.endHeartbeats()
	_, err := c.from.DeleteMessage(
		c.settling,
		&sqs.DeleteMessageInput{QueueUrl: &c.queue, ReceiptHandle: d.message.ReceiptHandle},
		options...)
	if err != nil {
		c.OnError(fmt.Errorf("sqsbuffer: message %s was handled, but is not deleted: %w", *d.message.MessageId, err))
	}
	return err == nil
}

// giveBack makes messages visible again after a delay, except those that others may already have.
func (c *consumer) giveBack(chain []*delivery, delay time.Duration) {
	defer c.letGo(chain)
	var changes sync.WaitGroup
	for _, d := range chain {
		if d.isLost() {
			continue
		}
		changes.Go(func() {
			d.endHeartbeats()
			seconds := max(0, min(delay, longest-time.Since(d.received)-time.Second)) / time.Second
			_, err := c.from.ChangeMessageVisibility(c.settling, &sqs.ChangeMessageVisibilityInput{
				QueueUrl: &c.queue, ReceiptHandle: d.message.ReceiptHandle, VisibilityTimeout: int32(seconds),
			}, c.settles...)
			if err != nil {
				c.OnError(
					fmt.Errorf("sqsbuffer: message %s becomes visible only when its timeout has passed: %w", *d.message.MessageId, err),
				)
			}
		})
	}
	changes.Wait()
}

// letGo ends the consumer's work for messages.
func (c *consumer) letGo(chain []*delivery) {
	c.mu.Lock()
	for _, d := range chain {
		delete(c.held, d)
		d.lost(nil)
	}
	c.mu.Unlock()
	c.release(len(chain))
}

// retryDelay is a second, and doubles with each further receive.
func retryDelay(m types.Message) time.Duration {
	n, err := strconv.Atoi(m.Attributes[string(types.MessageSystemAttributeNameApproximateReceiveCount)])
	if err != nil || n < 1 {
		n = 1
	}
	return min(time.Second<<min(n-1, 20), 5*time.Minute)
}
