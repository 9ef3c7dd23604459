package spans

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

const ordersARN = "arn:aws:sqs:eu-west-1:000000000000:orders"

// rig has the tracer of messages, and its spans.
type rig struct {
	*Messages
	made *tracetest.InMemoryExporter
}

func newRig(t *testing.T) *rig {
	t.Helper()
	made := tracetest.NewInMemoryExporter()
	provider := sdk.NewTracerProvider(sdk.WithSyncer(made))
	t.Cleanup(func() { _ = provider.Shutdown(context.Background()) })
	tracer := &Tracer{provider: provider, tracer: provider.Tracer("test")}
	arnOf := func(id queue.ID) string {
		if id == 1 {
			return ordersARN
		}
		return ""
	}
	return &rig{newMessages(tracer, arnOf, func() queue.Instant { return 0 }), made}
}

// spans returns the spans since the last call, such as "queued orders 1000-2000".
func (r *rig) spans() string {
	var out []string
	for _, s := range r.made.GetSpans() {
		line := fmt.Sprintf("%s %d-%d", s.Name, s.StartTime.UnixMilli(), s.EndTime.UnixMilli())
		for _, a := range s.Attributes {
			if slices.Contains([]string{endKey, deadLetterKey}, string(a.Key)) {
				line += " " + a.Value.AsString()
			}
		}
		out = append(out, line)
	}
	r.made.Reset()
	return strings.Join(out, ", ")
}

func (r *rig) want(t *testing.T, want string) {
	t.Helper()
	if got := r.spans(); got != want {
		t.Errorf("spans: %s\nwant:  %s", got, want)
	}
}

func received(position queue.Position, receipt, receives uint64, until queue.Instant) shard.Message {
	return shard.Message{
		Message: queue.Message{
			ID: queue.MessageID{15: byte(position)}, SentAt: 1000, Trace: root + ";" + parent + ";Sampled=1",
			Body: "secret",
		},
		Delivery: queue.Delivery{Position: position, Receipt: receipt, Receives: receives, Until: until},
	}
}

func (r *rig) receive(at queue.Instant, m shard.Message) { r.Received(1, at, []shard.Message{m}) }

func TestLifeOfAMessage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.receive(3000, received(7, 1, 1, 33_000))
	r.want(t, "queued orders 1000-3000")
	// The visibility timeout ends, and a consumer gets the message again, and extends its time.
	r.sweep(33_500)
	r.want(t, "")
	r.sweep(34_000)
	r.want(t, "in flight orders 3000-33000 visibility_timeout")
	r.receive(40_000, received(7, 2, 2, 70_000))
	r.want(t, "redelivered orders 33000-40000")
	r.VisibilityChanged(1, 60_000,
		[]queue.Visibility{{Receipt: queue.Receipt{Position: 7, Number: 2}, Timeout: time.Minute}}, []error{nil})
	r.sweep(80_000)
	r.want(t, "")
	// It returns the message.
	r.VisibilityChanged(1, 90_000, []queue.Visibility{{Receipt: queue.Receipt{Position: 7, Number: 2}}}, []error{nil})
	r.want(t, "in flight orders 40000-90000 returned")
	// Another consumer gets it and deletes it, at the second attempt.
	r.receive(95_000, received(7, 3, 3, 125_000))
	r.want(t, "redelivered orders 90000-95000")
	r.Deleted(1, 96_000, []queue.Receipt{{Position: 7, Number: 1}}, []error{errors.New("refused")})
	r.want(t, "")
	r.Deleted(1, 97_000, []queue.Receipt{{Position: 7, Number: 3}}, []error{nil})
	r.want(t, "in flight orders 95000-97000 deleted")
	r.Deleted(1, 98_000, []queue.Receipt{{Position: 7, Number: 3}}, []error{nil})
	r.sweep(1e9)
	r.want(t, "")
	if n := r.tracer.followed.Load(); n != 0 || len(r.followed) != 0 || r.next.Len() != 0 {
		t.Errorf("%d messages are followed, %d %d", n, len(r.followed), r.next.Len())
	}
}

func TestSpansOfMessages(t *testing.T) {
	t.Parallel()
	one := []queue.Receipt{{Position: 1, Number: 1}}
	letter := func(m shard.Message, at queue.Instant) []queue.DeadLetter {
		return []queue.DeadLetter{{Queue: 1, Position: m.Position, ARN: ordersARN, Target: ordersARN + "-dead",
			Message: &m.Message, Receives: 3, At: at}}
	}
	for _, c := range []struct {
		name string
		do   func(r *rig)
		want string
	}{
		{"dead letter", func(r *rig) {
			r.receive(2000, received(1, 1, 3, 5000))
			r.DeadLettered(letter(received(1, 1, 3, 5000), 9000))
		}, "in flight orders 2000-5000 visibility_timeout, dead-lettered orders 5000-9000 orders-dead"},
		{"dead letter that is not known", func(r *rig) { r.DeadLettered(letter(received(1, 1, 3, 5000), 9000)) },
			"dead-lettered orders 9000-9000 orders-dead"},
		{"dead letter is received", func(r *rig) {
			m := received(1, 1, 1, 5000)
			m.Source = "arn"
			r.receive(2000, m)
		}, ""},
		{"received before the timeout was seen to have ended", func(r *rig) {
			r.receive(2000, received(1, 1, 1, 5000))
			r.receive(5100, received(1, 2, 2, 9000))
		}, "queued orders 1000-2000, in flight orders 2000-5000 visibility_timeout, redelivered orders 5000-5100"},
		{"the same attempt again", func(r *rig) {
			r.receive(2000, received(1, 1, 1, 5000))
			r.receive(3000, received(1, 1, 1, 6000))
			r.Deleted(1, 4000, one, []error{nil})
		}, "queued orders 1000-2000, in flight orders 2000-4000 deleted"},
		{"receives out of order", func(r *rig) {
			r.receive(3000, received(1, 2, 2, 5000))
			r.receive(2000, received(1, 1, 1, 2000))
			r.Deleted(1, 4000, one, []error{nil})
		}, "in flight orders 3000-4000 deleted"},
		{"returned", func(r *rig) {
			r.receive(2000, received(1, 1, 1, 5000))
			r.Returned(1, []queue.Delivery{{Position: 1, Receipt: 1}, {Position: 9}})
			r.sweep(1e9)
		}, "queued orders 1000-2000"},
		{"purged", func(r *rig) {
			r.receive(2000, received(1, 1, 1, 5000))
			r.Purged(1)
			r.sweep(1e9)
		}, "queued orders 1000-2000"},
		{"visible again and taken back", func(r *rig) {
			r.receive(2000, received(1, 1, 1, 5000))
			r.sweep(7000)
			r.VisibilityChanged(1, 8000, []queue.Visibility{{Receipt: one[0], Timeout: time.Minute}}, []error{nil})
			r.Deleted(1, 9000, one, []error{nil})
		},
			"queued orders 1000-2000, in flight orders 2000-5000 visibility_timeout, in flight orders 8000-9000 deleted"},
		{"deleted when visible again", func(r *rig) {
			r.receive(2000, received(1, 1, 1, 5000))
			r.sweep(7000)
			r.Deleted(1, 9000, one, []error{nil})
		}, "queued orders 1000-2000, in flight orders 2000-5000 visibility_timeout"},
		{"long ago", func(r *rig) {
			r.receive(2000, received(1, 1, 1, 5000))
			r.sweep(7000)
			r.sweep(queue.Instant(5000).Add(rememberVisible))
			r.receive(2_000_000, received(1, 2, 2, 2_030_000))
		}, "queued orders 1000-2000, in flight orders 2000-5000 visibility_timeout"},
		{"not sampled", func(r *rig) {
			m := received(1, 1, 1, 5000)
			m.Trace = root + ";" + parent + ";Sampled=0"
			r.receive(2000, m)
			r.Deleted(1, 9000, one, []error{nil})
		}, ""},
		{"internal queue", func(r *rig) { r.Received(2, 2000, []shard.Message{received(1, 1, 1, 5000)}) }, ""},
		{"after Close", func(r *rig) {
			r.receive(2000, received(1, 1, 1, 5000))
			r.Close()
			r.Close()
			r.sweep(1e9)
			r.receive(2000, received(2, 1, 1, 5000))
			r.Deleted(1, 9000, one, []error{nil})
		}, "queued orders 1000-2000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			c.do(r)
			r.want(t, c.want)
			r.sweep(1e12)
			if n := r.tracer.followed.Load(); n != 0 {
				t.Errorf("%d messages are followed", n)
			}
		})
	}
}

// Spans describe the message, are children of the producer's span and contain nothing of the body.
func TestSpanOfAMessage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.receive(2000, received(1, 1, 1, 5000))
	r.sweep(1e6)
	for i, s := range r.made.GetSpans() {
		if s.SpanContext.TraceID().String() != theirs || s.Parent.SpanID().String() != "53995c3f42cd8ad8" {
			t.Errorf("%s is of trace %s, parent %s", s.Name, s.SpanContext.TraceID(), s.Parent.SpanID())
		}
		got := make(map[string]any)
		for _, a := range s.Attributes {
			got[string(a.Key)] = a.Value.AsInterface()
		}
		want := map[string]any{
			"messaging.system": "aws_sqs", "messaging.destination.name": "orders",
			"messaging.message.id":        "00000000-0000-0000-0000-000000000001",
			"messaging.message.body.size": int64(6), "cloud.region": "eu-west-1", "cloud.account.id": "000000000000",
			receiveCountKey: int64(1),
		}
		if i == 1 {
			want["error.type"], want[endKey] = "visibility_timeout", "visibility_timeout"
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", s.Name, got, want)
		}
	}
}

func TestFollowedMessagesAreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.tracer.followed.Store(maxFollowed)
	r.receive(2000, received(1, 1, 1, 5000))
	r.Deleted(1, 3000, []queue.Receipt{{Position: 1, Number: 1}}, []error{nil})
	r.want(t, "queued orders 1000-2000")
}
