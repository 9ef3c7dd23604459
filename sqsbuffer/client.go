package sqsbuffer

import (
	"context"
	"errors"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// A Client is an SQS client that batches calls and prefetches messages. It has all methods of the client that it wraps;
// methods that are not described here call the wrapped client directly.
type Client struct {
	*sqs.Client

	settings     Settings
	sends        *sendBatcher
	deletes      *deleteBatcher
	visibilities *visibilityBatcher
	receives     *prefetcher
	consumers    consumers
	crew         *crew // makes the requests
}

// New wraps a client. Each function may change settings, which start with their defaults; a setting out of its range is
// an error. Close the Client when it is no longer needed.
func New(client *sqs.Client, change ...func(*Settings)) (*Client, error) {
	settings := defaults()
	for _, f := range change {
		f(&settings)
	}
	if err := settings.check(); err != nil {
		return nil, err
	}
	c := &Client{Client: client, settings: settings, crew: newCrew()}
	c.consumers.closing, c.consumers.stop = context.WithCancel(context.Background())
	c.sends = newSendBatcher(client, &c.settings, c.crew)
	c.deletes = newDeleteBatcher(client, &c.settings, c.crew)
	c.visibilities = newVisibilityBatcher(client, &c.settings, c.crew)
	c.receives = newPrefetcher(client, &c.settings, c.crew)
	return c, nil
}

// SendMessage sends a message in a batch with others for the same queue, and returns when the message is stored. A call
// with its own options is not batched: the wrapped client makes it.
func (c *Client) SendMessage(
	ctx context.Context,
	params *sqs.SendMessageInput,
	optFns ...func(*sqs.Options),
) (*sqs.SendMessageOutput, error) {
	if len(optFns) > 0 || !sendable(params) {
		return c.Client.SendMessage(ctx, params, keeping(optFns)...)
	}
	return c.sends.do(ctx, *params.QueueUrl, copyOf(params))
}

// SendMessageAsync starts to send a message and returns at once. The returned function waits for the outcome; call it
// as often as you like, or not at all. Messages that one goroutine starts to send to a FIFO queue are sent in that
// order.
func (c *Client) SendMessageAsync(
	ctx context.Context, params *sqs.SendMessageInput,
) (wait func() (*sqs.SendMessageOutput, error)) {
	if !sendable(params) {
		// It is refused immediately.
		output, err := c.Client.SendMessage(ctx, params, keepConnection)
		return func() (*sqs.SendMessageOutput, error) { return output, err }
	}
	return c.sends.begin(ctx, *params.QueueUrl, copyOf(params)).wait
}

// DeleteMessage deletes a message in a batch with others of the same queue.
func (c *Client) DeleteMessage(
	ctx context.Context,
	params *sqs.DeleteMessageInput,
	optFns ...func(*sqs.Options),
) (*sqs.DeleteMessageOutput, error) {
	if len(optFns) > 0 || params == nil || params.QueueUrl == nil || params.ReceiptHandle == nil {
		return c.Client.DeleteMessage(ctx, params, optFns...)
	}
	input := *params
	return c.deletes.do(ctx, *params.QueueUrl, &input)
}

// ChangeMessageVisibility changes a visibility timeout in a batch with others of the
// same queue.
func (c *Client) ChangeMessageVisibility(
	ctx context.Context,
	params *sqs.ChangeMessageVisibilityInput,
	optFns ...func(*sqs.Options),
) (*sqs.ChangeMessageVisibilityOutput, error) {
	if len(optFns) > 0 || params == nil || params.QueueUrl == nil || params.ReceiptHandle == nil {
		return c.Client.ChangeMessageVisibility(ctx, params, optFns...)
	}
	input := *params
	return c.visibilities.do(ctx, *params.QueueUrl, &input)
}

// ReceiveMessage returns prefetched messages, or waits for some. Calls that prefetched messages cannot serve go to the
// wrapped client; the package comment lists them.
func (c *Client) ReceiveMessage(
	ctx context.Context,
	params *sqs.ReceiveMessageInput,
	optFns ...func(*sqs.Options),
) (*sqs.ReceiveMessageOutput, error) {
	if len(optFns) > 0 || !c.receives.serves(params) {
		return c.Client.ReceiveMessage(ctx, params, keeping(optFns)...)
	}
	return c.receives.receive(ctx, params)
}

// PurgeQueue purges a queue, and drops the messages that were prefetched from it. Messages of a concurrent receive are
// made visible again, because they may have been sent after the purge.
func (c *Client) PurgeQueue(
	ctx context.Context, params *sqs.PurgeQueueInput, optFns ...func(*sqs.Options),
) (*sqs.PurgeQueueOutput, error) {
	out, err := c.Client.PurgeQueue(ctx, params, optFns...)
	if err == nil && params != nil && params.QueueUrl != nil {
		c.receives.purge(*params.QueueUrl)
	}
	return out, err
}

// Close stops Consume, sends waiting calls, makes prefetched messages visible again, and returns when that is done. If
// the context ends first, Close gives up the rest, and its callers get an error, as do all callers of the four methods
// after Close.
func (c *Client) Close(ctx context.Context) error {
	var wg sync.WaitGroup
	errs := make([]error, 5)
	errs[4] = c.consumers.close(ctx)
	for i, f := range []func(context.Context) error{
		c.sends.close, c.deletes.close, c.visibilities.close, c.receives.close,
	} {
		wg.Go(func() { errs[i] = f(ctx) })
	}
	wg.Wait()
	c.crew.close()
	return errors.Join(errs...)
}
