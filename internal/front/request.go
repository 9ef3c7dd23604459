package front

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/observe/spans"
	"github.com/sluicemq/sluice/internal/observe/trail"
	"github.com/sluicemq/sluice/internal/tenant"
)

// request is one request and what becomes of it.
type request struct {
	front *Front
	w     http.ResponseWriter
	r     *http.Request
	id    string
	began time.Time

	sourceIP  string // of the client
	encrypted bool   // all the way to the client, as far as is known
	relayed   bool   // another node has got it from the client, and this one owns the control store

	memory memory
	unread bool // the client may still be sending the body

	page       string            // what the console asks for about signing in; empty: the request is for a service
	service    *protocol.Service // that is meant, as far as is known
	parsed     *protocol.Request // nil until the body has come
	call       *protocol.Call
	keyID      string // that the request names
	identified bool   // the caller is known, or known to be anonymous
	caller     identity.Identity
	visit      tenant.Visit   // counts the request for its caller
	record     *trail.Record  // of the call; nil if it is not recorded
	span       *spans.Request // nil if the request has none

	// The outcome:
	err      *protocol.Error // the client's error
	cause    error           // its cause, if it is not for the client
	denial   *access.Denial  // the policy that refused the caller, if one did
	gone     bool            // the client has left without its answer
	answered int             // the status of the answer of the control store's owner
	begun    bool            // a long answer is under way, and cannot become an error any more
}

// errOverload marks a refusal because too much is under way. It is not logged for each request.
var errOverload = errors.New("too much is under way")

// run answers the request by serve, and takes note of it.
func (x *request) run(serve func()) {
	f := x.front
	f.Metrics.Begin()
	if f.Spans != nil && !x.relayed { // one that another node has relayed has its span there
		x.span = f.Spans.Begin(x.r.Header.Get)
	}
	x.safely(func() {
		if err := x.enter(); err != nil {
			x.fail(err)
			return
		}
		defer f.requests.give(1)
		serve()
	})
	x.visit.Leave()
	x.giveBack()
	x.count()
	if x.span != nil {
		x.endSpan()
	}
	if f.logged.Load() {
		x.log()
	}
	if x.begun && x.cause != nil {
		panic(http.ErrAbortHandler) // only the end of the connection can say that the answer is not whole
	}
}

// enter takes one of the places for requests. The last of them are for requests that name a known access key.
func (x *request) enter() error {
	if x.relayed || x.front.requests.try(1, unverified) {
		return nil
	}
	if err := x.judge(); err != nil {
		x.unread = x.r.ContentLength != 0
		return err
	}
	if !x.memory.named || !x.front.requests.try(1, growing) {
		x.unread = x.r.ContentLength != 0
		return errors.Join(protocol.ServiceUnavailable(), errOverload)
	}
	return nil
}

// safely turns a panic into an answer and a line in the log.
func (x *request) safely(serve func()) {
	defer func() {
		if p := recover(); p != nil {
			x.front.Log.Error("request panicked", "request_id", x.id, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			if x.begun {
				x.cause = errors.New("panicked")
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

// answer takes the request to its operation and the output back to the client. The returned error is the client's.
func (x *request) answer() error {
	body, err := x.readBody()
	if err != nil {
		return err
	}
	if err := x.recognise(body); err != nil {
		return err
	}
	if err := x.retryIfBehind(func() error { return x.identify(body) }); err != nil {
		return err
	}
	op, err := x.service.Lookup(x.parsed)
	if err != nil {
		return err
	}
	if err := x.isolated(); err != nil {
		return err
	}
	if err := x.admit(); err != nil {
		return err
	}
	// An anonymous caller may change nothing there, so that its request need not go to another node, unless it follows a
	// link that has its permission with it.
	if op.Control() && x.front.Store.Elsewhere() && (x.caller.ARN != "" || x.service.TakesUnsigned(x.parsed.Operation)) {
		if x.relayed { // it has just been given away
			return control.ErrElsewhere
		}
		return x.relay(body)
	}
	ctx := x.r.Context()
	switch {
	case x.front.Trail == nil:
	case !op.Data():
		x.record = x.front.Trail.Begin(x.call, op, &x.caller, x.began)
		ctx = x.record.Changes(ctx)
	case x.front.Trail.WantsData():
		x.record = x.front.Trail.BeginData(x.call, op, &x.caller, x.began)
	}
	in, err := x.decode(op)
	if err != nil {
		return err
	}
	x.releaseBody()
	if x.record != nil {
		x.record.Parameters(op.Parameters(in))
	}
	var out any
	err = x.retryIfBehind(func() (err error) {
		out, err = op.Invoke(ctx, x.call, in)
		return err
	})
	if err != nil {
		return err
	}
	if x.record != nil {
		x.record.End(op.Elements(out), nil)
	}
	x.write(op, out)
	return nil
}

// admit counts the request for its caller, who may have a limit of requests under way. One that another node has relayed is
// counted there.
func (x *request) admit() (err error) {
	if x.relayed || !x.front.Tenants.Any() {
		return nil
	}
	x.visit, err = x.front.Tenants.Enter(service.Tenant(&x.caller))
	if err != nil {
		e := x.service.Throttled()
		e.Final = true
		return errors.Join(e, err)
	}
	return nil
}

// recognise finds out the protocol and the operation.
func (x *request) recognise(body []byte) error {
	body, err := x.inflate(body)
	if err != nil {
		return err
	}
	parsed, err := protocol.Recognise(x.r, body)
	x.parsed = parsed
	if err != nil {
		return err
	}
	// Behind the prefix of the public URL paths are the same as without one.
	if rest, ok := strings.CutPrefix(parsed.Path, x.front.prefix); ok && (rest == "" || rest[0] == '/') {
		parsed.Path = rest
	}
	x.call = x.newCall(parsed)
	return nil
}

// newCall returns what the operation will know about the request besides its input.
func (x *request) newCall(parsed *protocol.Request) *protocol.Call {
	call := &protocol.Call{
		Operation: parsed.Operation, RequestID: x.id, Kind: parsed.Kind,
		Path: parsed.Path, Host: x.r.Host, Scheme: scheme(x.r), TLS: x.encrypted,
		SourceIP: x.sourceIP, UserAgent: x.r.UserAgent(), TraceID: x.r.Header.Get("X-Amzn-Trace-Id"),
	}
	if x.span != nil || x.front.logged.Load() {
		call.Notes = new(protocol.Notes)
	}
	return call
}

// decode reads the operation's input.
func (x *request) decode(op *protocol.Operation) (any, error) {
	x.call.Version = x.parsed.Version
	in, err := op.Decode(x.parsed)
	switch {
	case err == nil:
		return in, nil
	case x.caller.ARN == "" && !x.service.TakesUnsigned(op.Name): // which learns nothing from a mistake
		return nil, service.Denied(x.call)
	}
	return nil, err
}

// write answers with an operation's output. A client that has left gets nothing, even if the answer would still fit into
// the socket's buffer, and the operation takes back what would be lost with the answer.
func (x *request) write(op *protocol.Operation, out any) {
	if x.r.Context().Err() != nil {
		x.gone = true
	} else {
		// Short answers stay in net/http's buffer, so that only the flush tells whether there is still a connection.
		write := func() error { return protocol.WriteResult(x.w, x.service, x.parsed, op, x.id, out) }
		if page := x.linkPage(); page != nil {
			write = func() error { return x.writeLinkPage(http.StatusOK, page) }
		}
		x.gone = write() != nil || http.NewResponseController(x.w).Flush() != nil
	}
	if x.gone {
		x.call.Undelivered(context.WithoutCancel(x.r.Context()))
	}
}

// fail answers with the error that an operation, or a step on the way to it, had.
func (x *request) fail(err error) {
	// An error after the end of the context means that the client has left; unless reading its body failed, which ends
	// the context, too.
	if x.parsed != nil && x.r.Context().Err() != nil {
		x.gone = true
		return
	}
	if errors.Is(err, control.ErrElsewhere) || errors.Is(err, control.ErrUnavailable) {
		err = errors.Join(protocol.ServiceUnavailable(), err)
	}
	e := protocol.AsError(err)
	if x.record != nil {
		x.record.End(nil, e)
	}
	x.denial, _ = errors.AsType[*access.Denial](err)
	if e.Status >= http.StatusInternalServerError {
		x.cause = err
		switch {
		case errors.Is(err, errOverload):
			x.front.overload.do(func() {
				x.front.Log.Warn("requests are refused: too many are under way, or too much of them has come",
					"bytes", x.front.memory.used(), "requests", x.front.requests.used())
			})
		case service.IsTooEarly(err):
			x.front.Log.Warn("request refused, as the nodes of the cluster run different versions", "request_id", x.id, "operation", x.operation(), "error", err)
		case !service.OfTheDisk(err): // which is logged once, not for every request that meets with it
			x.front.Log.Error("request failed", "request_id", x.id, "operation", x.operation(), "error", err)
		}
	}
	x.refuse(e)
}

// refuse answers with an error.
func (x *request) refuse(e *protocol.Error) {
	x.err = e
	if x.parsed == nil {
		x.parsed, _ = protocol.Recognise(x.r, nil) // for the protocol of the answer
	}
	write := func() error { return protocol.WriteError(x.w, x.service, x.parsed, x.id, e) }
	if page := x.linkPage(); page != nil {
		write = func() error { return x.writeLinkPage(e.Status, page) }
	}
	if x.unread {
		x.gone = x.refuseEarly(write) != nil
	} else {
		x.gone = write() != nil
	}
}

// operation returns the name of the operation as far as it is known, at most a hundred bytes.
func (x *request) operation() string {
	if x.parsed == nil {
		return ""
	}
	return fmt.Sprintf("%.100s", x.parsed.Operation)
}

// regionLabel is what regions look like that stand in a host: sqs.example.com has none.
var regionLabel = regexp.MustCompile(`^[a-z]{2,}(?:-[a-z]+)+-[0-9]{1,2}$`)

// hostRegion returns the region that a host such as sqs.eu-west-1.example.com, or AWS's own older
// eu-west-1.queue.amazonaws.com, names; or "".
func hostRegion(host string) string {
	labels := strings.Split(strings.ToLower(host), ".")
	switch {
	case len(labels) > 2 && labels[0] == "sqs" && regionLabel.MatchString(labels[1]):
		return labels[1]
	case len(labels) > 2 && labels[1] == "queue" && regionLabel.MatchString(labels[0]):
		return labels[0]
	}
	return ""
}

// scheme is how the client addressed the server. A proxy that ends TLS says so in a header, which is good enough for
// making URLs for its own client.
func scheme(r *http.Request) string {
	if r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") {
		return "https"
	}
	return "http"
}
