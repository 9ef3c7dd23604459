package sqsbuffer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
)

// refresh is how often the client reads the visibility timeout of a queue.
const refresh = time.Minute

// aboutToBeAnswered is how long a receive takes that does not wait for messages.
const aboutToBeAnswered = 250 * time.Millisecond

// A prefetcher receives messages before callers ask for them.
type prefetcher struct {
	client   *sqs.Client
	settings *Settings
	crew     *crew
	work     context.Context // of the requests; ends with close
	stop     context.CancelFunc
	requests sync.WaitGroup

	mu      sync.Mutex
	buffers map[string]*buffer // by queue and attribute names
	key     []byte             // of the last lookup; reused
	closed  bool
}

// A buffer holds messages of one queue, received with one set of attribute names.
type buffer struct {
	template   sqs.ReceiveMessageInput
	visibility time.Duration // 0 while unknown
	learned    time.Time     // time of the last attempt to read it
	learning   bool
	denied     bool // the caller may not read the queue's visibility timeout

	waiting  []*taker // in order of arrival
	batches  []*fetched
	fetching int       // receives under way
	asked    int       // messages that these may bring
	parallel int       // the number of concurrent receives that pays
	more     bool      // callers have asked since the queue was last empty
	pace     pace      // of the callers
	used     time.Time // by the last caller
	purges   int       // of the queue, by this client
}

// A fetched batch is usable until its messages become visible again.
type fetched struct {
	messages []types.Message
	until    time.Time
}

// A taker is a caller that waits for up to n messages.
type taker struct {
	n            int
	since, until time.Time
	got          chan taken // buffered, for one result
}

// A taken is the result for a caller. If direct is set, the wrapped client must make the call.
type taken struct {
	messages []types.Message
	err      error
	direct   bool
}

func newPrefetcher(client *sqs.Client, settings *Settings, crew *crew) *prefetcher {
	p := &prefetcher{client: client, settings: settings, crew: crew, buffers: make(map[string]*buffer)}
	p.work, p.stop = context.WithCancel(context.Background())
	return p
}

// serves reports whether prefetched messages can answer a request.
func (p *prefetcher) serves(in *sqs.ReceiveMessageInput) bool {
	return p.settings.prefetches() &&
		in != nil && in.QueueUrl != nil && !isFIFO(*in.QueueUrl) && in.ReceiveRequestAttemptId == nil &&
		in.MaxNumberOfMessages >= 0 && in.MaxNumberOfMessages <= 10 &&
		in.WaitTimeSeconds >= 0 && in.WaitTimeSeconds <= 20 && (in.WaitTimeSeconds == 0 || p.settings.LongPoll) &&
		(in.VisibilityTimeout == 0 || int(in.VisibilityTimeout) == p.settings.VisibilityTimeoutSeconds)
}

// receive takes messages from the buffer or waits for some.
func (p *prefetcher) receive(ctx context.Context, in *sqs.ReceiveMessageInput) (*sqs.ReceiveMessageOutput, error) {
	if ctx.Err() != nil {
		return nil, canceled(ctx)
	}
	got := p.take(ctx, in)
	switch {
	case got.direct:
		return p.client.ReceiveMessage(ctx, in, keepConnection)
	case got.err != nil:
		return nil, got.err
	}
	return &sqs.ReceiveMessageOutput{Messages: got.messages}, nil
}

func (p *prefetcher) take(ctx context.Context, in *sqs.ReceiveMessageInput) taken {
	now := time.Now()
	t := &taker{
		n: max(1, int(in.MaxNumberOfMessages)), since: now, until: now.Add(p.patience(in)), got: make(chan taken, 1),
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return taken{err: ErrClosed}
	}
	b := p.bufferFor(in, now)
	b.used, b.more = now, true
	if messages := b.take(now, t.n); len(messages) > 0 {
		p.fill(b)
		p.mu.Unlock()
		return taken{messages: messages}
	}
	b.waiting = append(b.waiting, t)
	p.fill(b)
	p.mu.Unlock()

	var tooLong <-chan time.Time
	if p.settings.LongPoll {
		timer := time.NewTimer(time.Until(t.until))
		defer timer.Stop()
		tooLong = timer.C
	}
	left := taken{}
	select {
	case got := <-t.got:
		return got
	case <-ctx.Done():
		left.err = canceled(ctx)
	case <-tooLong:
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(b.waiting, t); i >= 0 {
		b.waiting = slices.Delete(b.waiting, i, i+1)
		return left
	}
	return <-t.got // messages that arrived meanwhile must not be lost
}

// patience returns how long a caller waits for messages: without long polls, for the answer to one receive.
func (p *prefetcher) patience(in *sqs.ReceiveMessageInput) time.Duration {
	switch {
	case !p.settings.LongPoll:
		return 0
	case in.WaitTimeSeconds > 0:
		return time.Duration(in.WaitTimeSeconds) * time.Second
	}
	return time.Duration(p.settings.LongPollWaitTimeoutSeconds) * time.Second
}

// bufferFor finds the buffer of a request. The caller holds the lock.
func (p *prefetcher) bufferFor(in *sqs.ReceiveMessageInput, now time.Time) *buffer {
	old := in.AttributeNames //nolint:staticcheck // many programs use the older name
	p.key = appendName(p.key[:0], *in.QueueUrl)
	p.key = appendNames(p.key, old)
	p.key = appendNames(p.key, in.MessageSystemAttributeNames)
	p.key = appendNames(p.key, in.MessageAttributeNames)
	if b := p.buffers[string(p.key)]; b != nil {
		return b
	}
	for key, b := range p.buffers {
		if len(b.waiting) == 0 && b.fetching == 0 && !b.learning && now.Sub(b.used) > refresh && b.held(now) == 0 {
			delete(p.buffers, key)
		}
	}
	queue := *in.QueueUrl
	b := &buffer{parallel: 1, template: sqs.ReceiveMessageInput{
		QueueUrl:                    &queue,
		AttributeNames:              slices.Clone(old), //nolint:staticcheck // a synonym
		MessageSystemAttributeNames: slices.Clone(in.MessageSystemAttributeNames),
		MessageAttributeNames:       slices.Clone(in.MessageAttributeNames),
	}}
	if p.settings.LongPoll {
		b.template.WaitTimeSeconds = int32(p.settings.LongPollWaitTimeoutSeconds)
	}
	if v := p.settings.VisibilityTimeoutSeconds; v > 0 {
		b.visibility = time.Duration(v) * time.Second
	}
	p.buffers[string(p.key)] = b
	return b
}

// appendNames appends names to the key of a buffer. The preceding counts make different lists different keys.
func appendNames[N ~string](key []byte, names []N) []byte {
	key = strconv.AppendInt(key, int64(len(names)), 10)
	for _, name := range names {
		key = appendName(append(key, ' '), string(name))
	}
	return key
}

func appendName(key []byte, name string) []byte {
	key = strconv.AppendInt(key, int64(len(name)), 10)
	return append(append(key, ' '), name...)
}

// fill receives the messages that callers wait for or will soon request, and no more: without callers it stops. The
// caller holds the lock.
func (p *prefetcher) fill(b *buffer) {
	now := time.Now()
	if p.closed || !p.learn(b, now) {
		return
	}
	wanted := b.pace.count(now, b.visibility/2)
	demand := 0
	for _, t := range b.waiting {
		demand += t.n
	}
	wanted = max(wanted, demand) - b.held(now) - b.asked
	for wanted > 0 && (demand > 0 || b.more) &&
		b.fetching < min(b.parallel, p.settings.MaxInflightReceiveBatches) &&
		b.fetching+len(b.batches) < p.settings.MaxDoneReceiveBatches {
		n := min(wanted, p.settings.MaxBatchSize)
		wanted -= n
		b.fetching++
		b.asked += n
		p.requests.Add(1)
		p.crew.run(func() {
			defer p.requests.Done()
			p.fetch(b, n)
		})
	}
}

// learn reports whether the visibility timeout is known, and requests it if it is unknown or outdated. The caller holds
// the lock.
func (p *prefetcher) learn(b *buffer, now time.Time) bool {
	if p.settings.VisibilityTimeoutSeconds > 0 {
		return true
	}
	if !b.learning && now.Sub(b.learned) >= refresh {
		b.learning = true
		p.requests.Go(func() {
			visibility, err := p.queueVisibility(b)
			p.mu.Lock()
			defer p.mu.Unlock()
			b.learning, b.learned = false, time.Now()
			b.visibility, b.denied = visibility, err != nil || visibility <= 0
			p.fill(b)
		})
	}
	if b.denied {
		b.answer(taken{direct: true}, everyone)
	}
	return b.visibility > 0 && !b.denied
}

// queueVisibility reads the visibility timeout of the queue.
func (p *prefetcher) queueVisibility(b *buffer) (time.Duration, error) {
	out, err := p.client.GetQueueAttributes(p.work, &sqs.GetQueueAttributesInput{
		QueueUrl:       b.template.QueueUrl,
		AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameVisibilityTimeout},
	})
	if err != nil {
		return 0, err
	}
	seconds, err := strconv.Atoi(out.Attributes[string(types.QueueAttributeNameVisibilityTimeout)])
	return time.Duration(seconds) * time.Second, err
}

// fetch receives up to n messages.
func (p *prefetcher) fetch(b *buffer, n int) {
	started := time.Now()
	in := b.template
	in.MaxNumberOfMessages = int32(n)
	p.mu.Lock()
	visibility, purges := b.visibility, b.purges
	p.mu.Unlock()
	in.VisibilityTimeout = int32(visibility / time.Second)
	out, err := p.client.ReceiveMessage(p.work, &in, keepConnection)
	answered := time.Now()

	p.mu.Lock()
	defer p.mu.Unlock()
	b.fetching--
	b.asked -= n
	switch {
	case err != nil:
		b.parallel, b.more = 1, false
		b.answer(taken{err: err}, everyone)
	case len(out.Messages) == 0:
		b.parallel, b.more = 1, false
		// Another receive is not worth the last second of a wait.
		b.answer(taken{}, func(t *taker) bool { return !t.since.After(started) && t.until.Sub(answered) < time.Second })
	case b.purges != purges:
		// Purged messages cannot be released, which does not matter.
		p.requests.Go(func() { _ = p.giveBack(p.work, b.template.QueueUrl, out.Messages) })
	default:
		if len(out.Messages) == n {
			b.parallel = min(2*b.parallel, p.settings.MaxInflightReceiveBatches)
		}
		b.batches = append(b.batches, &fetched{out.Messages, answered.Add(visibility)})
		b.serve(answered)
	}
	p.fill(b)
}

// purge drops the prefetched messages of a queue.
func (p *prefetcher) purge(queue string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.buffers {
		if *b.template.QueueUrl == queue {
			b.batches = nil
			b.purges++
		}
	}
}

// answer gives the same result to these waiting callers.
func (b *buffer) answer(what taken, to func(*taker) bool) {
	b.waiting = slices.DeleteFunc(b.waiting, func(t *taker) bool {
		if !to(t) {
			return false
		}
		t.got <- what
		return true
	})
}

func everyone(*taker) bool { return true }

// serve gives messages to waiting callers.
func (b *buffer) serve(now time.Time) {
	for len(b.waiting) > 0 {
		messages := b.take(now, b.waiting[0].n)
		if len(messages) == 0 {
			return
		}
		b.waiting[0].got <- taken{messages: messages}
		b.waiting = slices.Delete(b.waiting, 0, 1)
	}
}

// take removes up to n messages that are still invisible to others.
func (b *buffer) take(now time.Time, n int) []types.Message {
	var out []types.Message
	for len(out) < n && b.held(now) > 0 {
		first := b.batches[0]
		k := min(n-len(out), len(first.messages))
		out = append(out, first.messages[:k]...)
		if first.messages = first.messages[k:]; len(first.messages) == 0 {
			b.batches = slices.Delete(b.batches, 0, 1)
		}
	}
	if len(out) > 0 {
		b.pace.add(now, b.visibility/2, len(out))
	}
	return out
}

// held drops the expired batches, and counts the messages of the others.
func (b *buffer) held(now time.Time) int {
	b.batches = slices.DeleteFunc(b.batches, func(f *fetched) bool { return !now.Before(f.until) })
	n := 0
	for _, f := range b.batches {
		n += len(f.messages)
	}
	return n
}

// close ends the receives in progress, and makes messages visible again that no caller has taken.
//
// The messages of an interrupted receive would stay invisible for their timeout. So close waits for receives that will
// be answered soon, but not for those that wait for messages.
func (p *prefetcher) close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	var kept []*buffer
	for _, b := range p.buffers {
		b.answer(taken{err: ErrClosed}, everyone)
		kept = append(kept, b)
	}
	p.buffers = nil
	p.mu.Unlock()
	cutOff := time.AfterFunc(aboutToBeAnswered, p.stop)
	p.requests.Wait()
	cutOff.Stop()
	p.stop()

	var errs []error
	for _, b := range kept {
		b.held(time.Now())
		for _, f := range b.batches {
			errs = append(errs, p.giveBack(ctx, b.template.QueueUrl, f.messages))
		}
	}
	return errors.Join(errs...)
}

// giveBack makes messages visible again.
func (p *prefetcher) giveBack(ctx context.Context, queue *string, messages []types.Message) error {
	request := &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: queue}
	for i, m := range messages {
		request.Entries = append(request.Entries, types.ChangeMessageVisibilityBatchRequestEntry{
			Id: entryID(i), ReceiptHandle: m.ReceiptHandle,
		})
	}
	if len(request.Entries) == 0 {
		return nil
	}
	out, err := p.client.ChangeMessageVisibilityBatch(ctx, request, keepConnection)
	if err != nil {
		return fmt.Errorf("sqsbuffer: %d messages are not given back: %w", len(messages), err)
	}
	if len(out.Failed) > 0 {
		return fmt.Errorf("sqsbuffer: %d messages are not given back: %w", len(out.Failed), typed(out.Failed[0]))
	}
	return nil
}

// canceled is the error of a receive whose caller has left, as the SDK returns it.
func canceled(ctx context.Context) error {
	return &smithy.OperationError{
		ServiceID: "SQS", OperationName: "ReceiveMessage", Err: &aws.RequestCanceledError{Err: ctx.Err()},
	}
}
