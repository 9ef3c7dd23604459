package sqsbuffer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"
)

// A kind is a kind of call, with functions that make one call alone or several in a batch.
type kind[I, O any] struct {
	operation string
	single    func(context.Context, *I) (*O, error)
	// batch returns an outcome for each input, in the same order, or an error if it failed as a whole.
	batch   func(ctx context.Context, queue string, inputs []*I) ([]outcome[O], error)
	bytes   func(*I) int // the bytes that count for the size of a batch
	ordered bool         // a FIFO queue gets one batch after the other
}

// An outcome is the result of one call of a batch.
type outcome[O any] struct {
	output *O
	err    error
	again  bool // the caller is not at fault
}

// A batcher makes batches of the calls of one kind. Calls for one queue wait in its lane until they fill a batch or the
// first has waited long enough, and fewer than the maximum number of batches are under way.
type batcher[I, O any] struct {
	kind[I, O]
	settings *Settings
	crew     *crew
	work     context.Context // of the requests; ends when Close gives up
	giveUp   context.CancelFunc

	mu      sync.Mutex
	lanes   map[string]*lane[I, O] // by queue URL; only lanes with work
	closed  bool
	drained chan struct{} // closed when no work is left
}

// A lane holds the pending calls for one queue.
type lane[I, O any] struct {
	waiting  []*call[I, O] // oldest first
	underWay int           // number of batches
	timer    *time.Timer   // fires when the first call has waited long enough
	alarm    time.Time     // the time for which it was last set
}

// A call is a caller's call.
type call[I, O any] struct {
	input *I
	bytes int
	due   time.Time // the end of its wait
	batch *batch    // the batch that it is in

	done   chan struct{} // closed when there is an outcome
	output *O
	err    error
	unlink func() bool // from the caller's context
}

// A batch is a batch under way.
type batch struct {
	callers int // calls whose callers have not left
	abandon context.CancelFunc
}

func newBatcher[I, O any](settings *Settings, crew *crew, k kind[I, O]) *batcher[I, O] {
	b := &batcher[I, O]{
		kind: k, settings: settings, crew: crew, lanes: make(map[string]*lane[I, O]), drained: make(chan struct{}),
	}
	b.work, b.giveUp = context.WithCancel(context.Background())
	return b
}

// do makes a call and waits for its outcome.
func (b *batcher[I, O]) do(ctx context.Context, queue string, input *I) (*O, error) {
	return b.begin(ctx, queue, input).wait()
}

// begin puts a call into the lane of its queue.
func (b *batcher[I, O]) begin(ctx context.Context, queue string, input *I) *call[I, O] {
	c := &call[I, O]{input: input, bytes: b.bytes(input), done: make(chan struct{})}
	if ctx.Err() != nil {
		return c.fail(b.left(ctx))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return c.fail(ErrClosed)
	}
	l := b.lanes[queue]
	if l == nil {
		l = new(lane[I, O])
		b.lanes[queue] = l
	}
	c.due = time.Now().Add(time.Duration(b.settings.MaxBatchOpenMs) * time.Millisecond)
	c.unlink = context.AfterFunc(ctx, func() { b.leave(ctx, queue, c) })
	l.waiting = append(l.waiting, c)
	b.advance(queue, l)
	return c
}

// advance sends the calls that are due. The caller holds the lock.
func (b *batcher[I, O]) advance(queue string, l *lane[I, O]) {
	room := b.settings.MaxInflightOutboundBatches
	if b.inOrder(queue) {
		room = 1
	}
	for l.underWay < room && len(l.waiting) > 0 {
		n, full := b.fit(l.waiting)
		if wait := time.Until(l.waiting[0].due); wait > 0 && !full && !b.closed {
			b.setTimer(queue, l, wait)
			return
		}
		calls := slices.Clone(l.waiting[:n])
		l.waiting = slices.Delete(l.waiting, 0, n)
		l.underWay++
		b.dispatch(queue, l, calls)
	}
	if l.underWay == 0 && len(l.waiting) == 0 {
		if l.timer != nil {
			l.timer.Stop()
		}
		delete(b.lanes, queue)
		b.finish()
	}
}

// setTimer wakes the lane when its first call has waited long enough. The caller holds the lock.
func (b *batcher[I, O]) setTimer(queue string, l *lane[I, O], wait time.Duration) {
	due := l.waiting[0].due
	switch {
	case l.timer == nil:
		l.timer = time.AfterFunc(wait, func() { b.wake(queue, l) })
	case l.alarm != due: // and not set already, when a call joins others
		l.timer.Reset(wait)
	}
	l.alarm = due
}

// fit returns how many of the calls fit into one batch, and whether it is then full.
func (b *batcher[I, O]) fit(calls []*call[I, O]) (n int, full bool) {
	bytes := 0
	for n < len(calls) && n < b.settings.MaxBatchSize {
		if bytes += calls[n].bytes; n > 0 && bytes > b.settings.MaxBatchSizeBytes {
			return n, true
		}
		n++
	}
	return n, n == b.settings.MaxBatchSize || bytes >= b.settings.MaxBatchSizeBytes
}

func (b *batcher[I, O]) wake(queue string, l *lane[I, O]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lanes[queue] == l {
		b.advance(queue, l)
	}
}

// dispatch sends a batch. The caller holds the lock.
func (b *batcher[I, O]) dispatch(queue string, l *lane[I, O], calls []*call[I, O]) {
	ctx, cancel := context.WithCancel(b.work)
	sent := &batch{callers: len(calls), abandon: cancel}
	for _, c := range calls {
		c.batch = sent
	}
	b.crew.run(func() {
		defer cancel()
		b.deliver(ctx, queue, calls)
		b.mu.Lock()
		defer b.mu.Unlock()
		l.underWay--
		b.advance(queue, l)
	})
}

// deliver makes the calls and gives each its outcome.
func (b *batcher[I, O]) deliver(ctx context.Context, queue string, calls []*call[I, O]) {
	if len(calls) == 1 {
		if calls[0].answered() {
			return // its caller has left
		}
		output, err := b.single(ctx, calls[0].input)
		b.answer(calls[0], output, err)
		return
	}
	inputs := make([]*I, len(calls))
	for i, c := range calls {
		inputs[i] = c.input
	}
	all, err := b.batch(ctx, queue, inputs)
	if err != nil {
		if mayBeOfOne(err) {
			// No call was carried out. One call must not make the others fail.
			half := len(calls) / 2
			b.deliver(ctx, queue, calls[:half])
			b.deliver(ctx, queue, calls[half:])
			return
		}
		for _, c := range calls {
			b.answer(c, nil, b.renamed(err))
		}
		return
	}
	var alone sync.WaitGroup
	for i, o := range all {
		if o.again && !b.inOrder(queue) {
			// The plain client retries after such an error, and so does this one.
			alone.Go(func() { b.deliver(ctx, queue, calls[i:i+1]) })
			continue
		}
		b.answer(calls[i], o.output, o.err)
	}
	alone.Wait()
}

// answer gives a call its outcome, unless its caller has left.
func (b *batcher[I, O]) answer(c *call[I, O], output *O, err error) {
	if err != nil && b.work.Err() != nil {
		err = fmt.Errorf("%w before it was answered: %w", ErrClosed, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.answered() {
		return
	}
	c.unlink()
	c.batch.callers--
	if err == nil {
		c.output = output
	}
	c.err = err
	close(c.done)
}

// leave ends a call whose caller's context has ended. An unsent call is dropped. A request is canceled when all its
// callers have left, except for a FIFO queue: the service may still store its messages, and the next batch must follow
// them.
func (b *batcher[I, O]) leave(ctx context.Context, queue string, c *call[I, O]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.answered() {
		return
	}
	c.fail(b.left(ctx))
	if c.batch != nil {
		if c.batch.callers--; c.batch.callers == 0 && !b.inOrder(queue) {
			c.batch.abandon()
		}
		return
	}
	if l := b.lanes[queue]; l != nil {
		l.waiting = slices.DeleteFunc(l.waiting, func(other *call[I, O]) bool { return other == c })
		b.advance(queue, l)
	}
}

// close sends waiting calls, and waits until all are done or the context ends; the remaining calls then fail.
func (b *batcher[I, O]) close(ctx context.Context) error {
	b.mu.Lock()
	if !b.closed {
		b.closed = true
		b.finish()
		for queue, l := range b.lanes {
			b.advance(queue, l)
		}
	}
	b.mu.Unlock()
	defer b.giveUp()
	select {
	case <-b.drained:
		return nil
	case <-ctx.Done():
		b.giveUp()
		<-b.drained
		return fmt.Errorf("sqsbuffer: %s calls were given up: %w", b.operation, ctx.Err())
	}
}

// finish tells close when no lane has work left. The caller holds the lock.
func (b *batcher[I, O]) finish() {
	if b.closed && len(b.lanes) == 0 {
		close(b.drained)
	}
}

// left is the error of a call whose caller has left, as the SDK returns it.
func (b *batcher[I, O]) left(ctx context.Context) error {
	return b.renamed(&aws.RequestCanceledError{Err: ctx.Err()})
}

// renamed turns the error of a batch into the error of the single call.
func (b *batcher[I, O]) renamed(err error) error {
	var operation *smithy.OperationError
	if errors.As(err, &operation) {
		err = operation.Err
	}
	return &smithy.OperationError{ServiceID: "SQS", OperationName: b.operation, Err: err}
}

// wait waits for the outcome and returns it.
func (c *call[I, O]) wait() (*O, error) {
	<-c.done
	return c.output, c.err
}

func (c *call[I, O]) fail(err error) *call[I, O] {
	c.err = err
	close(c.done)
	return c
}

func (c *call[I, O]) answered() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// inOrder reports whether the batches of a queue are sent one after the other.
func (b *batcher[I, O]) inOrder(queue string) bool { return b.ordered && isFIFO(queue) }

// isFIFO reports whether a queue is a FIFO queue, by its URL.
func isFIFO(queue string) bool { return strings.HasSuffix(queue, ".fifo") }
