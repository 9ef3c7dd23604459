package spans

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/tool/heap"
)

const (
	// maxFollowed is the maximum number of remembered messages of traces, in flight and after that. Other messages have
	// only the span of their time in the queue.
	maxFollowed = 100_000
	// rememberVisible is how long the end of a message's visibility timeout is remembered.
	rememberVisible = 15 * time.Minute
	// sweepInterval is the interval of checks for ended visibility timeouts. A timeout counts as over only after that
	// time, because a consumer may have extended it at the last moment.
	sweepInterval = time.Second
)

// Names of attributes that OpenTelemetry does not have.
const (
	receiveCountKey = "sluice.message.receive_count"
	endKey          = "sluice.message.in_flight.end"
	deadLetterKey   = "sluice.dead_letter_queue.name"
)

// Messages creates the spans of the messages of one shard. It implements shard.Watcher.
type Messages struct {
	tracer *Tracer
	arnOf  func(queue.ID) string
	now    func() queue.Instant
	stop   chan struct{}

	mu       sync.Mutex
	closed   bool
	followed map[place]*followed
	next     heap.Heap[*followed] // by what time does to them
}

type place struct {
	queue    queue.ID
	position queue.Position
}

// followed is a received message of a trace.
type followed struct {
	place
	parent   trace.SpanContext
	attrs    []attribute.KeyValue // of each of its spans
	arn      string
	receipt  uint64 // of the newest receive
	receives uint64
	received queue.Instant
	until    queue.Instant // the end of its visibility timeout
	visible  bool          // the timeout has ended, and its span was created
	at       int           // in the heap
}

// due returns when work is due if no event occurs before.
func (f *followed) due() queue.Instant {
	if f.visible {
		return f.until.Add(rememberVisible)
	}
	return f.until.Add(sweepInterval)
}

// Follow returns a watcher that creates the spans of the messages of a shard whose clock is now. arnOf returns the ARN
// of a queue, or "" if its messages have no spans. A nil Tracer returns nil.
func (t *Tracer) Follow(arnOf func(queue.ID) string, now func() queue.Instant) *Messages {
	if t == nil {
		return nil
	}
	m := newMessages(t, arnOf, now)
	go m.sweepOften()
	return m
}

func newMessages(t *Tracer, arnOf func(queue.ID) string, now func() queue.Instant) *Messages {
	return &Messages{
		tracer: t, arnOf: arnOf, now: now, stop: make(chan struct{}), followed: make(map[place]*followed),
		next: heap.New(func(a, b *followed) bool { return a.due() < b.due() }, func(f *followed) *int { return &f.at }),
	}
}

// Close implements shard.Watcher. The next owner of the shard continues with the messages.
func (m *Messages) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed {
		m.closed = true
		close(m.stop)
		for f := range m.next.All() {
			f.at = 0
		}
		m.tracer.followed.Add(-int64(len(m.followed)))
		m.followed = nil
		m.next.Clear()
	}
}

func (m *Messages) sweepOften() {
	ticker := time.NewTicker(sweepInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			m.sweep(m.now())
		case <-m.stop:
			return
		}
	}
}

// sweep ends the spans of messages whose visibility timeout has ended.
func (m *Messages) sweep(now queue.Instant) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.next.Len() > 0 && m.next.First().due() <= now {
		f := m.next.First()
		if f.visible {
			m.forget(f)
			continue
		}
		m.endTimeout(f)
	}
}

// endTimeout creates the span of a message whose visibility timeout has ended.
func (m *Messages) endTimeout(f *followed) {
	m.inFlight(f, f.until, "visibility_timeout", "visibility_timeout")
	f.visible = true
	m.next.Set(f)
}

func (m *Messages) forget(f *followed) {
	m.next.Remove(f)
	delete(m.followed, f.place)
	m.tracer.followed.Add(-1)
}

// Received implements shard.Watcher.
func (m *Messages) Received(id queue.ID, at queue.Instant, messages []shard.Message) {
	for i := range messages {
		if parent, wanted := parentOfMessage(&messages[i].Message); wanted {
			m.receivedOne(id, at, parent, &messages[i])
		}
	}
}

func (m *Messages) receivedOne(id queue.ID, at queue.Instant, parent trace.SpanContext, msg *shard.Message) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := place{id, msg.Position}
	f := m.followed[p]
	switch {
	case m.closed || f != nil && f.receipt > msg.Receipt:
		return
	case f != nil && f.receipt == msg.Receipt: // the same attempt once more
		f.until = msg.Until
		m.next.Set(f)
		return
	}
	arn := m.arnOf(id)
	if arn == "" {
		return
	}
	if f != nil {
		if !f.visible {
			m.endTimeout(f)
		}
		f.receives = msg.Receives
		m.tracer.span(f, "redelivered", f.until, at, "")
	} else {
		f = &followed{
			place: p, parent: parent, arn: arn, attrs: attributesOf(arn, &msg.Message), receives: msg.Receives,
		}
		if msg.Receives == 1 && msg.Source == "" { // the arrival time of a dead letter is unknown
			m.tracer.span(f, "queued", msg.SentAt, at, "")
		}
		if m.tracer.followed.Add(1) > maxFollowed {
			m.tracer.followed.Add(-1)
			return
		}
		m.followed[p] = f
	}
	f.receipt, f.received, f.until, f.visible = msg.Receipt, at, msg.Until, false
	m.next.Set(f)
}

// Returned implements shard.Watcher.
func (m *Messages) Returned(id queue.ID, deliveries []queue.Delivery) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range deliveries {
		if f := m.followed[place{id, deliveries[i].Position}]; f != nil && f.receipt == deliveries[i].Receipt {
			m.forget(f)
		}
	}
}

// Deleted implements shard.Watcher.
func (m *Messages) Deleted(id queue.ID, at queue.Instant, receipts []queue.Receipt, results []error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, r := range receipts {
		f := m.followed[place{id, r.Position}]
		if f == nil || results[i] != nil {
			continue
		}
		if !f.visible {
			m.inFlight(f, at, "deleted", "")
		}
		m.forget(f)
	}
}

// VisibilityChanged implements shard.Watcher.
func (m *Messages) VisibilityChanged(id queue.ID, at queue.Instant, changes []queue.Visibility, results []error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range changes {
		f := m.followed[place{id, changes[i].Position}]
		if f == nil || results[i] != nil {
			continue
		}
		was := f.visible
		f.until = at.Add(changes[i].Timeout)
		switch {
		case changes[i].Timeout == 0 && !was:
			m.inFlight(f, at, "returned", "")
			f.visible = true
		case changes[i].Timeout > 0 && was: // SQS takes back a message that is visible again
			f.received, f.visible = at, false
		}
		m.next.Set(f)
	}
}

// Purged implements shard.Watcher.
func (m *Messages) Purged(id queue.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for p, f := range m.followed {
		if p.queue == id {
			m.forget(f)
		}
	}
}

// DeadLettered implements shard.Watcher.
func (m *Messages) DeadLettered(letters []queue.DeadLetter) {
	for i := range letters {
		l := &letters[i]
		parent, wanted := parentOfMessage(l.Message)
		if !wanted {
			continue
		}
		m.mu.Lock()
		from := l.At
		if f := m.followed[place{l.Queue, l.Position}]; f != nil {
			if !f.visible {
				m.endTimeout(f)
			}
			from = f.until
			m.forget(f)
		}
		m.mu.Unlock()
		f := &followed{parent: parent, arn: l.ARN, attrs: attributesOf(l.ARN, l.Message), receives: l.Receives}
		m.tracer.span(f, "dead-lettered", from, l.At, "dead_letter", attribute.String(deadLetterKey, nameIn(l.Target)))
	}
}

// inFlight creates the span of the time in which a consumer had a message.
func (m *Messages) inFlight(f *followed, end queue.Instant, how, failure string) {
	m.tracer.span(f, "in flight", f.received, end, failure, attribute.String(endKey, how))
}

// parentOfMessage returns the span in which a message was sent, and whether it is sampled.
func parentOfMessage(msg *queue.Message) (parent trace.SpanContext, wanted bool) {
	if msg.Trace == "" && len(msg.Attributes) == 0 {
		return trace.SpanContext{}, false
	}
	var w3c func(string) string
	if msg.Trace == "" {
		w3c = func(name string) string {
			for i := range msg.Attributes {
				if a := &msg.Attributes[i]; a.Name == name && a.Type == "String" {
					return a.Value
				}
			}
			return ""
		}
	}
	parent, wanted = parentOf(w3c, msg.Trace)
	return parent, wanted && parent.HasTraceID()
}

// attributesOf returns the common attributes of all spans of a message.
func attributesOf(arn string, msg *queue.Message) []attribute.KeyValue {
	return append(ofARN(arn),
		attribute.String("messaging.system", "aws_sqs"),
		attribute.String("messaging.message.id", msg.ID.String()),
		attribute.Int("messaging.message.body.size", len(msg.Body)))
}

// span creates a span of a message. failure is the error.type if its consumer failed.
func (t *Tracer) span(f *followed, what string, start, end queue.Instant, failure string, more ...attribute.KeyValue) {
	ctx := trace.ContextWithRemoteSpanContext(context.Background(), f.parent)
	_, span := t.tracer.Start(ctx, what+" "+nameIn(f.arn), trace.WithTimestamp(start.Time()), trace.WithAttributes(f.attrs...),
		trace.WithAttributes(attribute.Int64(receiveCountKey, int64(f.receives))), trace.WithAttributes(more...))
	if failure != "" {
		span.SetAttributes(attribute.String("error.type", failure))
		span.SetStatus(codes.Error, "")
	}
	span.End(trace.WithTimestamp(max(start, end).Time()))
}

// nameIn returns the name of the queue in an ARN.
func nameIn(arn string) string {
	for i := len(arn) - 1; i >= 0; i-- {
		if arn[i] == ':' {
			return arn[i+1:]
		}
	}
	return arn
}
