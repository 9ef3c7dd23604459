package spans

import (
	"context"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Request is a request with a span. A nil Request has none.
type Request struct {
	tracer *Tracer
	parent trace.SpanContext
}

// Outcome describes a finished request.
type Outcome struct {
	Began, Ended time.Time
	ID           string
	Service      string // "sqs"
	Operation    string // of the service; empty: unknown
	Host         string // address that the client used
	Region       string
	Status       int    // of HTTP; 0: the client has left
	Code         string // of the error; empty: none
	Notes        []slog.Attr
}

// Begin begins the span of a request with these headers. It returns nil if the request has no span.
func (t *Tracer) Begin(header func(name string) string) *Request {
	if t == nil {
		return nil
	}
	parent, wanted := parentOf(header, header(xrayHeader))
	if !wanted {
		return nil
	}
	return &Request{tracer: t, parent: parent}
}

// End creates the span.
func (r *Request) End(o *Outcome) {
	if r == nil {
		return
	}
	name := o.Service + " request"
	if o.Operation != "" {
		name = o.Operation
	}
	attrs := o.attributes()
	if to := destination(o.Notes); to != "" {
		name += " " + to
	}
	ctx := trace.ContextWithRemoteSpanContext(context.Background(), r.parent)
	_, span := r.tracer.tracer.Start(ctx, name,
		trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(o.Began), trace.WithAttributes(attrs...))
	if o.Status >= 500 {
		span.SetStatus(codes.Error, "")
	}
	span.End(trace.WithTimestamp(o.Ended))
}

// Keys of handlers' notes that spans repeat.
const (
	noteQueue    = "queue"
	noteTopic    = "topic"
	noteMessages = "messages"
	noteIDs      = "message_ids"
)

// systems are the values of messaging.system, by service.
var systems = map[string]string{"sqs": "aws_sqs", "sns": "aws.sns"}

// operationTypes are the values of messaging.operation.type.
var operationTypes = map[string]string{
	"SendMessage": "send", "SendMessageBatch": "send", "Publish": "send", "PublishBatch": "send",
	"ReceiveMessage": "receive",
	"DeleteMessage":  "settle", "DeleteMessageBatch": "settle",
	"ChangeMessageVisibility": "settle", "ChangeMessageVisibilityBatch": "settle",
}

func (o *Outcome) attributes() []attribute.KeyValue {
	attrs := []attribute.KeyValue{
		attribute.String("rpc.system.name", "aws-api"), attribute.String("rpc.service", o.Service),
		attribute.String("aws.request_id", o.ID),
	}
	if o.Operation != "" {
		attrs = append(attrs, attribute.String("rpc.method", o.Operation))
	}
	if o.Status != 0 {
		attrs = append(attrs, attribute.Int("http.response.status_code", o.Status))
	}
	switch {
	case o.Code != "":
		attrs = append(attrs, attribute.String("error.type", o.Code))
	case o.Status == 0:
		attrs = append(attrs, attribute.String("error.type", "client_left"))
	}
	attrs = append(attrs, serverAddress(o.Host)...)
	system, ok := systems[o.Service]
	if !ok || o.Operation == "" {
		return append(attrs, attribute.String("cloud.region", o.Region))
	}
	attrs = append(
		attrs, attribute.String("messaging.system", system), attribute.String("messaging.operation.name", o.Operation),
	)
	kind, moves := operationTypes[o.Operation]
	if moves {
		attrs = append(attrs, attribute.String("messaging.operation.type", kind))
	}
	named := false
	for _, note := range o.Notes {
		switch note.Key {
		case noteQueue, noteTopic:
			if named = true; note.Key == noteTopic {
				attrs = append(attrs, attribute.String("aws.sns.topic.arn", note.Value.String()))
			}
			attrs = append(attrs, ofARN(note.Value.String())...)
		case noteMessages:
			if n, ok := count(note.Value); ok && moves &&
				(n != 1 || o.Operation == "ReceiveMessage" || strings.HasSuffix(o.Operation, "Batch")) {
				attrs = append(attrs, attribute.Int64("messaging.batch.message_count", n))
			}
		case noteIDs:
			if id := note.Value.String(); !strings.Contains(id, ",") {
				attrs = append(attrs, attribute.String("messaging.message.id", id))
			}
		}
	}
	if !named {
		attrs = append(attrs, attribute.String("cloud.region", o.Region))
	}
	return attrs
}

// count returns the number in a note.
func count(v slog.Value) (int64, bool) {
	if v.Kind() == slog.KindInt64 {
		return v.Int64(), true
	}
	n, err := strconv.ParseInt(v.String(), 10, 64)
	return n, err == nil
}

// destination returns the name of the queue or topic in a request, or "".
func destination(notes []slog.Attr) string {
	for _, note := range notes {
		if note.Key == noteQueue || note.Key == noteTopic {
			arn := note.Value.String()
			return arn[strings.LastIndexByte(arn, ':')+1:]
		}
	}
	return ""
}

// ofARN returns the attributes in the ARN of a queue or topic.
func ofARN(arn string) []attribute.KeyValue {
	part := strings.Split(arn, ":")
	if len(part) != 6 {
		return nil
	}
	return []attribute.KeyValue{
		attribute.String("messaging.destination.name", part[5]),
		attribute.String("cloud.region", part[3]), attribute.String("cloud.account.id", part[4]),
	}
}

func serverAddress(host string) []attribute.KeyValue {
	const longest = 255
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	if name == "" || len(name) > longest {
		return nil
	}
	attrs := []attribute.KeyValue{attribute.String("server.address", name)}
	if n, err := strconv.ParseUint(port, 10, 16); err == nil {
		attrs = append(attrs, attribute.Int64("server.port", int64(n)))
	}
	return attrs
}
