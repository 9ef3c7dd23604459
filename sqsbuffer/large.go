package sqsbuffer

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// An ObjectStore keeps the bodies of large messages: S3, or a similar service.
type ObjectStore interface {
	Put(ctx context.Context, bucket, key string, body []byte) error
	Get(ctx context.Context, bucket, key string) (io.ReadCloser, error)
	Delete(ctx context.Context, bucket, key string) error
}

// LargeSettings configure a LargeClient, and start with the defaults.
type LargeSettings struct {
	// Threshold is the maximum size in bytes, of body and attributes, of a message that is sent unchanged. 0 to
	// 1048576; 262144 by default, as in the extended clients. With 0 all bodies go to the store.
	Threshold int

	// MaxBodyBytes is the maximum size of a body that is read from the store. 2 GiB by default.
	MaxBodyBytes int64

	// TrustedBuckets are the buckets, in addition to the client's own, from which bodies are read. A pointer to any
	// other bucket is refused: otherwise a sender could make a receiver read and delete any object to which the
	// receiver has access.
	TrustedBuckets []string

	// KeepBodies leaves bodies in the store when their messages are deleted.
	KeepBodies bool

	// OlderAttribute marks messages with SQSLargePayloadSize instead of ExtendedPayloadSize, for receivers with an
	// extended client from before 2020. Receivers understand both.
	OlderAttribute bool

	// OnError is called when a message is left out of an answer because its body cannot be read, and when a body is not
	// deleted. Several goroutines may call it at once. By default errors are logged with [slog.Default].
	OnError func(error)
}

// A LargeClient is a Client for messages with bodies that are too large for SQS. It stores these in an ObjectStore and
// sends a pointer, and reads them from there when it receives one. Messages and receipt handles have the format of
// Amazon's extended clients for Java and Python, so each can receive what the others send.
//
// A message whose body cannot be read is left out of an answer, and becomes visible again; if there is no other, the
// receive fails. In a FIFO queue, the later messages of its group are left out, too, and made visible at once: they
// follow it again. A body is deleted after its message. If the message was never stored, or was deleted by other means,
// the body stays: give the bucket a lifecycle rule.
type LargeClient struct {
	*Client
	settings LargeSettings
	store    ObjectStore
	bucket   string
}

// NewLarge returns a LargeClient that stores bodies in a bucket of the store. Closing it closes the Client.
func NewLarge(client *Client, store ObjectStore, bucket string, change ...func(*LargeSettings)) (*LargeClient, error) {
	settings := LargeSettings{
		Threshold: 256 << 10, MaxBodyBytes: 2 << 30,
		OnError: func(err error) { slog.Default().Error("bodies of large messages", "bucket", bucket, "error", err) },
	}
	for _, f := range change {
		f(&settings)
	}
	switch {
	case settings.Threshold < 0 || settings.Threshold > 1<<20:
		return nil, fmt.Errorf("sqsbuffer: Threshold is %d; it must be from 0 to 1048576", settings.Threshold)
	case settings.MaxBodyBytes < 1:
		return nil, fmt.Errorf("sqsbuffer: MaxBodyBytes is %d; it must be at least 1", settings.MaxBodyBytes)
	case settings.OnError == nil:
		return nil, errors.New("sqsbuffer: OnError must not be nil")
	case bucket == "":
		return nil, errors.New("sqsbuffer: the bucket has no name")
	}
	return &LargeClient{Client: client, settings: settings, store: store, bucket: bucket}, nil
}

// SendMessage sends a message as [Client.SendMessage] does, with a large body in the store.
func (l *LargeClient) SendMessage(
	ctx context.Context,
	params *sqs.SendMessageInput,
	optFns ...func(*sqs.Options),
) (*sqs.SendMessageOutput, error) {
	params, stored, err := l.storeLarge(ctx, params)
	if err != nil {
		return nil, err
	}
	out, err := l.Client.SendMessage(ctx, params, optFns...)
	l.removeIfRefused(ctx, stored, err)
	return out, err
}

// SendMessageAsync starts to send as [Client.SendMessageAsync] does. A large body is in the store when it returns.
func (l *LargeClient) SendMessageAsync(
	ctx context.Context, params *sqs.SendMessageInput,
) (wait func() (*sqs.SendMessageOutput, error)) {
	params, stored, err := l.storeLarge(ctx, params)
	if err != nil {
		return func() (*sqs.SendMessageOutput, error) { return nil, err }
	}
	wait = l.Client.SendMessageAsync(ctx, params)
	return sync.OnceValues(func() (*sqs.SendMessageOutput, error) {
		out, err := wait()
		l.removeIfRefused(ctx, stored, err)
		return out, err
	})
}

// SendMessageBatch sends messages, with large bodies in the store.
func (l *LargeClient) SendMessageBatch(
	ctx context.Context,
	params *sqs.SendMessageBatchInput,
	optFns ...func(*sqs.Options),
) (*sqs.SendMessageBatchOutput, error) {
	if params == nil {
		return l.Client.SendMessageBatch(ctx, params, optFns...)
	}
	batch := *params
	batch.Entries = slices.Clone(params.Entries)
	for i, e := range batch.Entries {
		in, _, err := l.storeLarge(ctx, &sqs.SendMessageInput{
			MessageBody: e.MessageBody, MessageAttributes: e.MessageAttributes,
		})
		if err != nil {
			return nil, err
		}
		batch.Entries[i].MessageBody, batch.Entries[i].MessageAttributes = in.MessageBody, in.MessageAttributes
	}
	return l.Client.SendMessageBatch(ctx, &batch, optFns...)
}

// ReceiveMessage receives as [Client.ReceiveMessage] does, and reads large bodies from the store.
func (l *LargeClient) ReceiveMessage(
	ctx context.Context,
	params *sqs.ReceiveMessageInput,
	optFns ...func(*sqs.Options),
) (*sqs.ReceiveMessageOutput, error) {
	out, err := l.Client.ReceiveMessage(ctx, withGroups(withSizes(params)), optFns...)
	if err != nil {
		return nil, err
	}
	return l.load(ctx, params.QueueUrl, out)
}

// Consume works as [Client.Consume] does, with messages as LargeClient receives them.
func (l *LargeClient) Consume(
	ctx context.Context, queue string, handler Handler, change ...func(*ConsumeOptions),
) error {
	return l.consume(ctx, l, queue, handler, change)
}

func (l *LargeClient) receive(ctx context.Context, in *sqs.ReceiveMessageInput) (*sqs.ReceiveMessageOutput, error) {
	out, err := l.Client.receive(ctx, withSizes(in))
	if err != nil {
		return nil, err
	}
	return l.load(ctx, in.QueueUrl, out)
}

// DeleteMessage deletes a message as [Client.DeleteMessage] does, and then its body in the store.
func (l *LargeClient) DeleteMessage(
	ctx context.Context,
	params *sqs.DeleteMessageInput,
	optFns ...func(*sqs.Options),
) (*sqs.DeleteMessageOutput, error) {
	if params == nil || params.ReceiptHandle == nil {
		return l.Client.DeleteMessage(ctx, params, optFns...)
	}
	input := *params
	at, handle, large := extract(*params.ReceiptHandle)
	input.ReceiptHandle = &handle
	out, err := l.Client.DeleteMessage(ctx, &input, optFns...)
	if err == nil && large {
		l.remove(ctx, at)
	}
	return out, err
}

// DeleteMessageBatch deletes messages, and then their bodies in the store.
func (l *LargeClient) DeleteMessageBatch(
	ctx context.Context,
	params *sqs.DeleteMessageBatchInput,
	optFns ...func(*sqs.Options),
) (*sqs.DeleteMessageBatchOutput, error) {
	if params == nil {
		return l.Client.DeleteMessageBatch(ctx, params, optFns...)
	}
	batch := *params
	batch.Entries = slices.Clone(params.Entries)
	bodies := make(map[string]pointer) // by the id of the entry
	for i, e := range batch.Entries {
		at, handle, large := extract(aws.ToString(e.ReceiptHandle))
		if large {
			batch.Entries[i].ReceiptHandle = &handle
			bodies[aws.ToString(e.Id)] = at
		}
	}
	out, err := l.Client.DeleteMessageBatch(ctx, &batch, optFns...)
	if err != nil {
		return nil, err
	}
	for _, e := range out.Successful {
		if at, large := bodies[aws.ToString(e.Id)]; large {
			l.remove(ctx, at)
		}
	}
	return out, nil
}

// ChangeMessageVisibility changes a visibility timeout as [Client.ChangeMessageVisibility] does.
func (l *LargeClient) ChangeMessageVisibility(
	ctx context.Context,
	params *sqs.ChangeMessageVisibilityInput,
	optFns ...func(*sqs.Options),
) (*sqs.ChangeMessageVisibilityOutput, error) {
	if params == nil || params.ReceiptHandle == nil {
		return l.Client.ChangeMessageVisibility(ctx, params, optFns...)
	}
	input := *params
	_, handle, _ := extract(*params.ReceiptHandle)
	input.ReceiptHandle = &handle
	return l.Client.ChangeMessageVisibility(ctx, &input, optFns...)
}

// ChangeMessageVisibilityBatch changes visibility timeouts.
func (l *LargeClient) ChangeMessageVisibilityBatch(
	ctx context.Context,
	params *sqs.ChangeMessageVisibilityBatchInput,
	optFns ...func(*sqs.Options),
) (*sqs.ChangeMessageVisibilityBatchOutput, error) {
	if params == nil {
		return l.Client.ChangeMessageVisibilityBatch(ctx, params, optFns...)
	}
	batch := *params
	batch.Entries = slices.Clone(params.Entries)
	for i, e := range batch.Entries {
		if _, handle, large := extract(aws.ToString(e.ReceiptHandle)); large {
			batch.Entries[i].ReceiptHandle = &handle
		}
	}
	return l.Client.ChangeMessageVisibilityBatch(ctx, &batch, optFns...)
}

// storeLarge puts the body of a large message into the store. It returns the message to send instead, and the location
// of the body.
func (l *LargeClient) storeLarge(
	ctx context.Context, in *sqs.SendMessageInput,
) (*sqs.SendMessageInput, *pointer, error) {
	if in == nil || in.MessageBody == nil {
		return in, nil, nil // the SDK will refuse it
	}
	for _, reserved := range []string{sizeAttribute, olderSizeAttribute} {
		if _, taken := in.MessageAttributes[reserved]; taken {
			return nil, nil, fmt.Errorf("sqsbuffer: the attribute %s is reserved for messages whose body is elsewhere", reserved)
		}
	}
	if !attributesComplete(in.MessageAttributes) ||
		l.settings.Threshold > 0 && messageBytes(in) <= l.settings.Threshold {
		return in, nil, nil
	}
	if len(in.MessageAttributes) > 9 {
		return nil, nil, fmt.Errorf(
			"sqsbuffer: a large message has %d attributes; it may have 9, because it gets one more",
			len(in.MessageAttributes),
		)
	}
	at := pointer{Bucket: l.bucket, Key: newKey()}
	body, err := at.body()
	if err != nil {
		return nil, nil, err
	}
	if err := l.store.Put(ctx, at.Bucket, at.Key, []byte(*in.MessageBody)); err != nil {
		return nil, nil, fmt.Errorf("sqsbuffer: put the body of a message into %s: %w", at, err)
	}
	out := copyOf(in)
	if out.MessageAttributes == nil {
		out.MessageAttributes = make(map[string]types.MessageAttributeValue)
	}
	name := sizeAttribute
	if l.settings.OlderAttribute {
		name = olderSizeAttribute
	}
	out.MessageBody = &body
	out.MessageAttributes[name] = types.MessageAttributeValue{
		DataType: aws.String("Number"), StringValue: aws.String(strconv.Itoa(len(*in.MessageBody))),
	}
	return out, &at, nil
}

// removeIfRefused deletes the body of a message that was certainly not stored: the service refuses its content, or has
// no such queue. After another error, an earlier attempt whose answer was lost may have stored the message.
func (l *LargeClient) removeIfRefused(ctx context.Context, at *pointer, err error) {
	var gone *types.QueueDoesNotExist
	if at != nil && (mayBeOfOne(err) || errors.As(err, &gone)) {
		l.remove(ctx, *at)
	}
}

// remove deletes a body.
func (l *LargeClient) remove(ctx context.Context, at pointer) {
	if l.settings.KeepBodies {
		return
	}
	err := l.trusts(at)
	if err == nil {
		err = l.store.Delete(ctx, at.Bucket, at.Key)
	}
	if err != nil {
		l.settings.OnError(fmt.Errorf("sqsbuffer: the body %s is not deleted: %w", at, err))
	}
}

// withSizes requests the attributes that mark pointers.
func withSizes(params *sqs.ReceiveMessageInput) *sqs.ReceiveMessageInput {
	if params == nil || slices.Contains(params.MessageAttributeNames, "All") ||
		slices.Contains(params.MessageAttributeNames, ".*") {
		return params
	}
	in := *params
	in.MessageAttributeNames = append(slices.Clone(params.MessageAttributeNames), sizeAttribute, olderSizeAttribute)
	return &in
}

// load reads the bodies of messages from the store.
func (l *LargeClient) load(
	ctx context.Context, queue *string, out *sqs.ReceiveMessageOutput,
) (*sqs.ReceiveMessageOutput, error) {
	errs := make([]error, len(out.Messages))
	var wg sync.WaitGroup
	for i := range out.Messages {
		wg.Go(func() { errs[i] = l.loadOne(ctx, &out.Messages[i]) })
	}
	wg.Wait()
	loaded := *out
	var held []types.Message
	if isFIFO(aws.ToString(queue)) {
		loaded.Messages, held = behind(out.Messages, errs)
		l.giveBack(ctx, queue, held)
	} else {
		loaded.Messages = withoutErrors(out.Messages, errs)
	}
	if len(loaded.Messages) == 0 && len(out.Messages) > 0 {
		return nil, errors.Join(errs...)
	}
	for _, err := range errs {
		if err != nil {
			l.settings.OnError(err)
		}
	}
	return &loaded, nil
}

func withoutErrors(messages []types.Message, errs []error) (out []types.Message) {
	for i, m := range messages {
		if errs[i] == nil {
			out = append(out, m)
		}
	}
	return out
}

// loadOne replaces a pointer with the original message.
func (l *LargeClient) loadOne(ctx context.Context, m *types.Message) error {
	_, is := m.MessageAttributes[sizeAttribute]
	_, was := m.MessageAttributes[olderSizeAttribute]
	if !is && !was {
		return nil
	}
	at, err := parsePointer(aws.ToString(m.Body))
	if err != nil {
		return fmt.Errorf("sqsbuffer: message %s should say where its body is: %w", aws.ToString(m.MessageId), err)
	}
	body, err := l.read(ctx, at)
	if err != nil {
		return fmt.Errorf("sqsbuffer: message %s has its body in %s: %w", aws.ToString(m.MessageId), at, err)
	}
	m.Body, m.MD5OfBody = &body, aws.String(digestOfBody(body))
	m.ReceiptHandle = aws.String(at.embed(aws.ToString(m.ReceiptHandle)))
	m.MessageAttributes = maps.Clone(m.MessageAttributes)
	delete(m.MessageAttributes, sizeAttribute)
	delete(m.MessageAttributes, olderSizeAttribute)
	m.MD5OfMessageAttributes = nil
	if len(m.MessageAttributes) > 0 {
		m.MD5OfMessageAttributes = aws.String(digestOfAttributes(m.MessageAttributes))
	}
	return nil
}

func (l *LargeClient) read(ctx context.Context, at pointer) (string, error) {
	if err := l.trusts(at); err != nil {
		return "", err
	}
	object, err := l.store.Get(ctx, at.Bucket, at.Key)
	if err != nil {
		return "", err
	}
	defer object.Close()
	body, err := io.ReadAll(io.LimitReader(object, l.settings.MaxBodyBytes+1))
	if err == nil && int64(len(body)) > l.settings.MaxBodyBytes {
		err = fmt.Errorf("it has more than %d bytes", l.settings.MaxBodyBytes)
	}
	return string(body), err
}

// trusts returns an error for a bucket that is neither this client's nor trusted.
func (l *LargeClient) trusts(at pointer) error {
	if at.Bucket == l.bucket || slices.Contains(l.settings.TrustedBuckets, at.Bucket) {
		return nil
	}
	return fmt.Errorf("the bucket is not %s, nor among TrustedBuckets", l.bucket)
}

func (p pointer) String() string { return fmt.Sprintf("%q of bucket %q", p.Key, p.Bucket) }

// newKey returns a random UUID.
func newKey() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
