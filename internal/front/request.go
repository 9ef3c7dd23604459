package front

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"time"
	"unsafe"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trail"
	"github.com/sluicemq/sluice/internal/observe/spans"
	"github.com/sluicemq/sluice/internal/tenant"
)

// request is one request through all stages. Each stage leaves a value for the next ones.
type request struct {
	front *Front
	arrival
	intake intake            // the received part, and its memory
	page   string            // the console's sign-in request; empty: the request is for a service
	parsed *protocol.Request // nil until the body is received
	who    identified
	call   *protocol.Call // nil until the caller is identified; then &called
	called protocol.Call
	visit  tenant.Visit   // counts the request for its caller
	record *trail.Record  // of the call; nil if it is not recorded
	span   *spans.Request // nil if the request has none
	place  place          // among the requests in progress
	result outcome
}

// A request that waits is kept in memory. This fails to compile if one takes more than Go's size class of 896 bytes, of
// which 8 belong to the collector: the next class is 1,024.
const _ = 896 - 8 - unsafe.Sizeof(request{})

// newRequest starts with a received request.
func (f *Front) newRequest(a arrival) *request {
	x := &request{front: f, arrival: a, who: identified{service: f.Services[0]}}
	x.logged, x.intake.of = f.logged.Load(), x
	return x
}

// errOverload marks a refusal because of too many requests. It is not logged for each request.
var errOverload = errors.New("too much is under way")

// run answers the request through serve, and records its outcome.
func (x *request) run(serve func()) {
	f := x.front
	f.Metrics.Begin()
	if f.Spans != nil && !x.relayed { // the relaying node has the span
		x.span = f.Spans.Begin(x.r.Header.Get)
	}
	x.safely(func() {
		if err := x.enter(); err != nil {
			x.fail(err)
			return
		}
		defer func() { x.place.give() }()
		serve()
	})
	x.visit.Leave()
	x.intake.giveBack()
	x.count()
	if x.span != nil {
		x.endSpan()
	}
	if x.logged {
		x.log()
	}
	if x.result.begun && x.result.cause != nil {
		panic(http.ErrAbortHandler) // only the end of the connection can show that the answer is incomplete
	}
}

// safely turns a panic into an error answer and a log line.
func (x *request) safely(serve func()) {
	defer func() {
		if p := recover(); p != nil {
			x.front.Log.Error(
				"request panicked", "request_id", x.id, "panic", fmt.Sprint(p), "stack", string(debug.Stack()),
			)
			if x.result.begun {
				x.result.cause = errors.New("panicked")
				return
			}
			x.refuse(protocol.InternalError())
		}
	}()
	serve()
}

func (x *request) serve() {
	if err := x.answer(); err != nil {
		x.fail(err)
	}
}

// answer passes the request to its operation and the output to the client. The returned error is for the client.
func (x *request) answer() error {
	f := x.front
	body, err := x.intake.read()
	if err != nil {
		x.result.cause = x.intake.broken
		return err
	}
	if x.parsed, err = f.recognise(&x.intake, body); err != nil {
		return err
	}
	if err := x.identify(body); err != nil {
		return err
	}
	op, err := x.who.service.Lookup(x.parsed)
	if err != nil {
		return err
	}
	if err := f.isolated(&x.arrival, &x.who); err != nil {
		return err
	}
	if err := x.admit(); err != nil {
		return err
	}
	if f.isElsewhere(op, x.parsed, &x.who) {
		return x.relay(body)
	}
	ctx := x.recorded(op)
	in, err := decode(op, x.parsed, &x.who, x.call)
	if err != nil {
		return err
	}
	x.release()
	x.dropHeader()
	if x.record != nil {
		x.record.Parameters(op.Parameters(in))
	}
	out, err := x.invoke(ctx, op, in)
	if err != nil {
		return err
	}
	if x.record != nil {
		x.record.End(op.Elements(out), nil)
	}
	x.write(op, out)
	return nil
}

// identify identifies the caller and the target, and begins the call.
func (x *request) identify(body []byte) error {
	err := x.front.retryIfBehind(&x.arrival, false, func() (err error) {
		x.who, err = x.front.identify(&x.arrival, x.parsed, body)
		return err
	})
	x.setCall()
	if err != nil {
		return err
	}
	return x.settle()
}

// dropHeader releases the header, which a long poll would keep in memory while it waits. Only links in messages, which
// are followed by GET, need it later.
func (x *request) dropHeader() {
	if x.r.Method == http.MethodPost {
		x.r.Header = nil
	}
}

// release returns the body, which decoding no longer uses.
func (x *request) release() {
	if x.parsed != nil { // requests about signing in are not parsed
		x.parsed.Body = nil
	}
	x.intake.release()
}

// isElsewhere reports whether the node that owns the control store must answer. An anonymous caller may change nothing
// there, so its request stays here, unless it follows a link that carries its permission.
func (f *Front) isElsewhere(op *protocol.Operation, parsed *protocol.Request, who *identified) bool {
	return op.ControlFor(parsed) && f.Store.Elsewhere() && (who.caller.ARN != "" || who.service.TakesUnsigned(op.Name))
}

// recorded begins the record of the call, if it is recorded, and returns the context of the operation.
func (x *request) recorded(op *protocol.Operation) context.Context {
	ctx, events := x.r.Context(), x.front.Trail
	switch {
	case events == nil:
	case !op.Data():
		x.record = events.Begin(x.call, op, &x.who.caller, x.began)
		ctx = x.record.Changes(ctx)
	case events.WantsData():
		x.record = events.BeginData(x.call, op, &x.who.caller, x.began)
	}
	return ctx
}

// invoke runs the operation.
func (x *request) invoke(ctx context.Context, op *protocol.Operation, in any) (out any, err error) {
	err = x.front.retryIfBehind(&x.arrival, x.who.caller.ARN != "", func() (err error) {
		out, err = op.Invoke(ctx, x.call, in)
		return err
	})
	return out, err
}

// admit counts the request for its caller, whose simultaneous requests may be limited. A request that another node
// relayed is counted there.
func (x *request) admit() (err error) {
	if x.relayed || !x.front.Tenants.Any() {
		return nil
	}
	x.visit, err = x.front.Tenants.Enter(service.Tenant(&x.who.caller))
	if err != nil {
		e := x.who.service.Throttled()
		e.Final = true
		return errors.Join(e, err)
	}
	return nil
}

// recognise determines the protocol and the operation. With an error it returns as much as it has found.
func (f *Front) recognise(in *intake, body []byte) (*protocol.Request, error) {
	body, err := in.inflate(body)
	if err != nil {
		return nil, err
	}
	parsed, err := protocol.Recognise(in.of.r, body)
	if err != nil {
		return parsed, err
	}
	// Behind the prefix of the public URL paths are the same as without one.
	if rest, ok := strings.CutPrefix(parsed.Path, f.prefix); ok && (rest == "" || rest[0] == '/') {
		parsed.Path = rest
	}
	return parsed, nil
}

// setCall sets the facts about the request that the operation gets in addition to its input.
func (x *request) setCall() {
	x.called = protocol.Call{
		Operation: x.parsed.Operation, RequestID: x.id, Kind: x.parsed.Kind,
		Path: x.parsed.Path, Host: x.r.Host, Scheme: scheme(x.r), TLS: x.encrypted,
		SourceIP: x.sourceIP, UserAgent: x.r.UserAgent(), TraceID: x.r.Header.Get("X-Amzn-Trace-Id"),
		Service: x.who.service.Name, Identity: &x.who.caller, Region: x.who.region,
	}
	if x.span != nil || x.logged {
		x.called.Notes = new(protocol.Notes)
	}
	x.call = &x.called
}

// decode reads the operation's input.
func decode(op *protocol.Operation, parsed *protocol.Request, who *identified, call *protocol.Call) (any, error) {
	call.Version = parsed.Version
	in, err := op.Decode(parsed)
	switch {
	case err == nil:
		return in, nil
	case who.caller.ARN == "" && !who.service.TakesUnsigned(op.Name): // which learns nothing from a mistake
		return nil, service.Denied(call)
	}
	return nil, err
}

// write answers with an operation's output. A client that has left gets nothing, even if the answer would still fit
// into the socket's buffer, and the operation reverts deliveries that would be lost with the answer.
func (x *request) write(op *protocol.Operation, out any) {
	if x.r.Context().Err() != nil {
		x.result.gone = true
	} else {
		write := func() error { return protocol.WriteResult(x.w, x.who.service, x.parsed, op, x.id, out) }
		if page := x.linkPage(); page != nil {
			write = func() error { return writeLinkPage(x.w, x.id, http.StatusOK, page) }
		}
		x.result.gone = write() != nil || !x.send()
	}
	if x.result.gone {
		x.call.Undelivered(context.WithoutCancel(x.r.Context()))
	}
}

// send sends the rest of the buffer, which is all of a short answer. It reports whether the client is still connected,
// but checks that only if the handler can revert something for a client that has left.
func (x *request) send() (sent bool) {
	if f, ok := x.w.(http.Flusher); ok && !x.call.NeedsDelivery() {
		f.Flush() // does not check the client
		return true
	}
	return http.NewResponseController(x.w).Flush() == nil
}

// fail answers with the error of an operation, or of a step before it.
func (x *request) fail(err error) {
	// An error after the end of the context means that the client has left, unless reading its body failed, which also
	// ends the context.
	if x.parsed != nil && x.r.Context().Err() != nil {
		x.result.gone = true
		return
	}
	if errors.Is(err, control.ErrElsewhere) || errors.Is(err, control.ErrUnavailable) {
		err = errors.Join(protocol.ServiceUnavailable(), err)
	}
	e := protocol.AsError(err)
	if x.record != nil {
		x.record.End(nil, e)
	}
	x.result.denial, _ = errors.AsType[*access.Denial](err)
	if e.Status >= http.StatusInternalServerError {
		x.result.cause = err
		switch {
		case errors.Is(err, errOverload):
			if x.front.overload.Allow(time.Now()) {
				x.front.Log.Warn("requests are refused: too many are under way, or too much of them has come",
					"bytes", x.front.memory.used(), "requests", x.front.RequestsInProgress())
			}
		case service.IsTooEarly(err):
			x.front.Log.Warn("request refused, as the nodes of the cluster run different versions",
				"request_id", x.id, "operation", x.operation(), "error", err)
		case !service.OfTheDisk(err): // which is logged once, not for every request that it affects
			x.front.Log.Error("request failed", "request_id", x.id, "operation", x.operation(), "error", err)
		}
	}
	x.refuse(e)
}

// refuse answers with an error.
func (x *request) refuse(e *protocol.Error) {
	x.result.err = e
	if x.parsed == nil {
		x.parsed, _ = protocol.Recognise(x.r, nil) // for the protocol of the answer
	}
	write := func() error { return protocol.WriteError(x.w, x.who.service, x.parsed, x.id, e) }
	if page := x.linkPage(); page != nil {
		write = func() error { return writeLinkPage(x.w, x.id, e.Status, page) }
	}
	x.result.gone = x.intake.answer(write) != nil
}

// operation returns the name of the operation as far as known, at most a hundred bytes.
func (x *request) operation() string {
	if x.parsed == nil {
		return ""
	}
	return fmt.Sprintf("%.100s", x.parsed.Operation)
}
