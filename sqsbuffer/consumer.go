package sqsbuffer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// A Handler processes a message. If it returns nil, the message is deleted; if it returns an error or panics, the
// message becomes visible again. Its context ends when the consumer has lost the message ([ErrMessageLost]), or when
// Consume must stop.
type Handler func(ctx context.Context, message types.Message) error

// ConsumeOptions configure Consume, and start with the defaults.
type ConsumeOptions struct {
	// Concurrency is the maximum number of messages that are received and not yet deleted, and so of running handlers.
	// 1 to 10000; 10 by default.
	Concurrency int

	// VisibilityTimeout is how long a message stays hidden from others without a heartbeat; there are two heartbeats in
	// that time. After a consumer dies, its messages wait that long. Whole seconds from 2 s to 12 h; 30 s by default.
	VisibilityTimeout time.Duration

	// StopTimeout is how long handlers may continue after the context has ended; then their contexts end, too. 30 s by
	// default.
	StopTimeout time.Duration

	// RetryDelay returns the time until a message becomes visible again after its handler has failed. By default it is
	// a second, and doubles with each further receive, up to five minutes. It does not limit the number of attempts:
	// the redrive policy of the queue does.
	RetryDelay func(types.Message) time.Duration

	// OnError is called with every error: a *[HandlerError], or the error of a request. Several goroutines may call it
	// at once. By default errors are logged with [slog.Default].
	OnError func(error)

	// MessageAttributeNames are the message attributes to receive; all by default.
	MessageAttributeNames []string
}

// A HandlerError reports that a handler failed or panicked.
type HandlerError struct {
	Message types.Message
	Err     error
	Stack   []byte // the stack of the panic; nil without one
}

func (e *HandlerError) Error() string {
	return fmt.Sprintf("sqsbuffer: the handler of message %s: %v", *e.Message.MessageId, e.Err)
}

func (e *HandlerError) Unwrap() error { return e.Err }

// ErrMessageLost is the cause with which a handler's context ends when others may receive its message: heartbeats have
// failed for too long, or its 12 hours are over.
var ErrMessageLost = errors.New("sqsbuffer: the message may be with another consumer")

// errStopped is the cause with which a handler's context ends when Consume must stop.
var errStopped = errors.New("sqsbuffer: the consumer stops")

// afterStop is how long Consume waits for handlers whose context it has ended.
const afterStop = 5 * time.Second

// source is the source of a consumer's messages: a Client, or a LargeClient.
type source interface {
	receive(context.Context, *sqs.ReceiveMessageInput) (*sqs.ReceiveMessageOutput, error)
	DeleteMessage(context.Context, *sqs.DeleteMessageInput, ...func(*sqs.Options)) (*sqs.DeleteMessageOutput, error)
	ChangeMessageVisibility(
		context.Context,
		*sqs.ChangeMessageVisibilityInput,
		...func(*sqs.Options),
	) (*sqs.ChangeMessageVisibilityOutput, error)
}

// Consume receives messages and calls the handler for each, until the context ends or the Client is closed. Then it
// waits for running handlers, makes the other messages visible again, and returns nil. It returns an error if handlers
// do not end in time, if the queue does not exist, or if an option is out of its range.
//
// Consume receives only as many messages as handlers are free, and prefetches none. One long poll waits at an empty
// queue, and several receive from a queue that keeps up. While a handler runs, heartbeats hide its message from others,
// for up to 12 hours. Deletes and heartbeats are batched, unless MaxBatchOpenMs is more than an eighth of
// VisibilityTimeout. In a FIFO queue each group is handled in order, one message at a time, each when the previous one
// is deleted. When one fails, the rest of its group becomes visible again after it.
func (c *Client) Consume(ctx context.Context, queue string, handler Handler, change ...func(*ConsumeOptions)) error {
	return c.consume(ctx, c, queue, handler, change)
}

func (c *Client) receive(ctx context.Context, in *sqs.ReceiveMessageInput) (*sqs.ReceiveMessageOutput, error) {
	return c.Client.ReceiveMessage(ctx, in, keepConnection)
}

func (c *Client) consume(
	ctx context.Context, from source, queue string, handler Handler, change []func(*ConsumeOptions),
) error {
	options := ConsumeOptions{
		Concurrency:       10,
		VisibilityTimeout: 30 * time.Second,
		StopTimeout:       30 * time.Second,
		RetryDelay:        retryDelay,
		OnError: func(err error) {
			slog.Default().Error("a consumer of SQS", "queue", queue, "error", err)
		},
		MessageAttributeNames: []string{"All"},
	}
	for _, f := range change {
		f(&options)
	}
	if err := options.check(); err != nil {
		return err
	}
	ctx, leave, err := c.consumers.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	consumer := &consumer{
		ConsumeOptions: options, from: from, queue: queue, handler: handler,
		receivers: max(1, min(c.settings.MaxInflightReceiveBatches, (options.Concurrency+9)/10)),
		slots:     make(chan struct{}, options.Concurrency),
		held:      make(map[*delivery]struct{}),
		settles:   settleOptions(options.VisibilityTimeout, c.settings.MaxBatchOpenMs),
	}
	return consumer.run(ctx)
}

// settleOptions returns the options of the calls that extend, delete and release messages. A call that would wait for a
// good part of the visibility timeout is made alone, because its message could become visible meanwhile.
func settleOptions(visibility time.Duration, maxBatchOpenMs int) []func(*sqs.Options) {
	if time.Duration(maxBatchOpenMs)*time.Millisecond > visibility/8 {
		return []func(*sqs.Options){alone}
	}
	return nil
}

func (o *ConsumeOptions) check() error {
	switch {
	case o.Concurrency < 1 || o.Concurrency > 10_000:
		return fmt.Errorf("sqsbuffer: Concurrency is %d; it must be from 1 to 10000", o.Concurrency)
	case o.VisibilityTimeout < 2*time.Second || o.VisibilityTimeout > 12*time.Hour ||
		o.VisibilityTimeout%time.Second != 0:
		return fmt.Errorf("sqsbuffer: VisibilityTimeout is %v; it must be whole seconds from 2s to 12h", o.VisibilityTimeout)
	case o.StopTimeout < 0:
		return fmt.Errorf("sqsbuffer: StopTimeout is %v; it must not be negative", o.StopTimeout)
	case o.RetryDelay == nil || o.OnError == nil:
		return errors.New("sqsbuffer: RetryDelay and OnError must not be nil")
	}
	return nil
}

// consumers are the calls of Consume that end when a Client is closed.
type consumers struct {
	closing context.Context
	stop    context.CancelFunc

	mu      sync.Mutex // no call begins once close waits
	running sync.WaitGroup
}

// enter returns a context that also ends with the Client. The caller must leave it.
func (c *consumers) enter(ctx context.Context) (_ context.Context, leave func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing.Err() != nil {
		return nil, nil, ErrClosed
	}
	ctx, cancel := context.WithCancel(ctx)
	unlink := context.AfterFunc(c.closing, cancel)
	c.running.Add(1)
	return ctx, func() { unlink(); cancel(); c.running.Done() }, nil
}

// close ends the calls and waits until they have returned or the context has ended.
func (c *consumers) close(ctx context.Context) error {
	c.mu.Lock()
	c.stop()
	c.mu.Unlock()
	ended := make(chan struct{})
	go func() { c.running.Wait(); close(ended) }()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("sqsbuffer: consumers were given up: %w", ctx.Err())
	}
}

// A consumer is one call of Consume.
type consumer struct {
	ConsumeOptions
	from      source
	queue     string
	handler   Handler
	receivers int                  // maximum number of messages
	settles   []func(*sqs.Options) // options of the calls for its messages
	slots     chan struct{}        // has an element for each held or requested message

	handling context.Context // of the handlers
	settling context.Context // of the requests that delete, extend and release
	stopping <-chan struct{} // closed when nothing more may begin

	running sync.WaitGroup // receivers, and handlers of their messages
	mu      sync.Mutex
	polling int // receivers
	held    map[*delivery]struct{}
	fatal   error
}

func (c *consumer) run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	handling, stopHandlers := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stopHandlers(nil)
	settling, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	c.handling, c.settling, c.stopping = handling, settling, ctx.Done()

	ended := make(chan struct{})
	c.running.Go(func() { c.receiveAll(ctx, stop) })
	go func() { c.running.Wait(); close(ended) }()
	var hearts sync.WaitGroup
	hearts.Go(func() { c.beat(ended) })

	<-ctx.Done()
	if !c.endsWithin(ended, c.StopTimeout) {
		stopHandlers(errStopped)
		if !c.endsWithin(ended, afterStop) {
			return errors.Join(
				c.fatal,
				fmt.Errorf(
					"sqsbuffer: %d messages are still being handled, %v after the consumer was stopped",
					c.holds(),
					c.StopTimeout+afterStop,
				),
			)
		}
	}
	giveUp() // heartbeats of messages that are deleted or released
	hearts.Wait()
	return c.fatal
}

func (c *consumer) endsWithin(ended <-chan struct{}, timeout time.Duration) bool {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-ended:
		return true
	case <-timer.C:
		return false
	}
}

func (c *consumer) holds() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.held)
}
