package spans

import (
	"log/slog"
	"net"
	"strconv"
	"strings"
	"time"
)

// Request is a request with a span. A nil Request has none.
type Request struct {
	tracer *Tracer
	parent origin
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
	r.tracer.finish(&span{
		origin: r.parent, kind: serverKind, name: name, start: o.Began, end: o.Ended, attrs: attrs, failed: o.Status >= 500,
	})
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

func (o *Outcome) attributes() attributes {
	attrs := attributes{
		text("rpc.system.name", "aws-api"), text("rpc.service", o.Service),
		text("aws.request_id", o.ID),
	}
	if o.Operation != "" {
		attrs.set(text("rpc.method", o.Operation))
	}
	if o.Status != 0 {
		attrs.set(number("http.response.status_code", int64(o.Status)))
	}
	switch {
	case o.Code != "":
		attrs.set(text("error.type", o.Code))
	case o.Status == 0:
		attrs.set(text("error.type", "client_left"))
	}
	attrs.set(serverAddress(o.Host)...)
	system, ok := systems[o.Service]
	if !ok || o.Operation == "" {
		attrs.set(text("cloud.region", o.Region))
		return attrs
	}
	attrs.set(text("messaging.system", system), text("messaging.operation.name", o.Operation))
	kind, moves := operationTypes[o.Operation]
	if moves {
		attrs.set(text("messaging.operation.type", kind))
	}
	named := false
	for _, note := range o.Notes {
		switch note.Key {
		case noteQueue, noteTopic:
			if named = true; note.Key == noteTopic {
				attrs.set(text("aws.sns.topic.arn", note.Value.String()))
			}
			attrs.set(ofARN(note.Value.String())...)
		case noteMessages:
			if n, ok := count(note.Value); ok && moves &&
				(n != 1 || o.Operation == "ReceiveMessage" || strings.HasSuffix(o.Operation, "Batch")) {
				attrs.set(number("messaging.batch.message_count", n))
			}
		case noteIDs:
			if id := note.Value.String(); !strings.Contains(id, ",") {
				attrs.set(text("messaging.message.id", id))
			}
		}
	}
	if !named {
		attrs.set(text("cloud.region", o.Region))
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
func ofARN(arn string) attributes {
	part := strings.Split(arn, ":")
	if len(part) != 6 {
		return nil
	}
	return attributes{
		text("messaging.destination.name", part[5]),
		text("cloud.region", part[3]), text("cloud.account.id", part[4]),
	}
}

func serverAddress(host string) attributes {
	const longest = 255
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	if name == "" || len(name) > longest {
		return nil
	}
	attrs := attributes{text("server.address", name)}
	if n, err := strconv.ParseUint(port, 10, 16); err == nil {
		attrs.set(number("server.port", int64(n)))
	}
	return attrs
}
