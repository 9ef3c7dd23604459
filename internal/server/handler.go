package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/aws/signature"
	"github.com/sluicemq/sluice/internal/control"
)

// handler is the way of a request from HTTP to its operation and back.
type handler struct {
	server   *Server
	services []*protocol.Service // SQS first, which is meant if nothing says otherwise
	verifier signature.Verifier
	prefix   string // of paths, from the public URL
	proxies  proxies
	log      *slog.Logger
}

func newHandler(s *Server, services ...*protocol.Service) *handler {
	h := &handler{server: s, services: services, proxies: s.proxies, log: s.log}
	if u, err := url.Parse(s.config.PublicURL); err == nil && u.Host != "" {
		// Clients sign for the address they use, whatever a proxy makes of it.
		h.verifier.Hosts = []string{u.Host}
		h.prefix = strings.TrimRight(u.Path, "/")
	}
	return h
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		switch r.URL.Path {
		case "/healthz":
			h.healthz(w)
			return
		case "/readyz":
			h.readyz(w, r)
			return
		}
	}
	if r.Method == http.MethodGet && r.URL.Path == h.prefix+BackupPath {
		h.exchange(w, r).runBackup()
		return
	}
	h.exchange(w, r).run()
}

// exchange begins with a request of a client's.
func (h *handler) exchange(w http.ResponseWriter, r *http.Request) *exchange {
	return &exchange{
		handler: h, service: h.services[0], w: w, r: r, id: uuid.NewString(), began: h.server.config.now(),
		sourceIP: h.proxies.client(r), encrypted: h.proxies.encrypted(r), version: h.server.control.Version(),
	}
}

// run answers the request.
func (x *exchange) run() {
	x.server.metrics.Requests.Begin()
	x.serveSafely()
	x.giveBack()
	x.done()
}

// done takes note of a request that is over.
func (x *exchange) done() {
	x.count()
	if x.server.config.LogRequests {
		x.log()
	}
}

// exchange is one request and its answer.
type exchange struct {
	*handler
	service *protocol.Service // that is meant, as far as is known
	w       http.ResponseWriter
	r       *http.Request
	id      string
	began   time.Time

	sourceIP  string // of the client
	encrypted bool   // up to the client
	forwarded bool   // by another node, because this one owns the control store

	version     uint64 // of the control store when the request began
	lookedAgain bool   // see behind

	buffer  *bytes.Buffer    // holds the body
	head    io.LimitedReader // its beginning
	taken   int64            // of the server's budget for the rest
	request *protocol.Request
	caller  identity.Identity
	err     *protocol.Error // what the client was told
	cause   error           // why, if the client was not told
	notes   *protocol.Notes // what the operation adds to the request log
	denial  *access.Denial  // who refused the caller, if policies did
	gone    bool            // the client did not get its answer
	relayed int             // the status of another node's answer
	begun   bool            // a long answer, which cannot become an error any more
}

// serveSafely turns a mistake of ours into an answer and a line in the log.
func (x *exchange) serveSafely() {
	defer func() {
		if p := recover(); p != nil {
			x.handler.log.Error("request panicked", "request_id", x.id, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			x.refuse(protocol.InternalError())
		}
	}()
	x.serve()
}

func (x *exchange) serve() {
	body, perr := x.body()
	if perr != nil {
		x.request, _ = protocol.Recognise(x.r, nil) // for the protocol of the answer
		x.refuse(perr)
		return
	}
	x.request, perr = protocol.Recognise(x.r, body)
	if perr != nil {
		x.refuse(perr)
		return
	}
	// Behind the prefix of the public URL paths are the same as without one.
	if rest, ok := strings.CutPrefix(x.request.Path, x.prefix); ok && (rest == "" || rest[0] == '/') {
		x.request.Path = rest
	}
	call := &protocol.Call{
		Operation: x.request.Operation, RequestID: x.id, Kind: x.request.Kind,
		Path: x.request.Path, Host: x.r.Host, Scheme: scheme(x.r), TLS: x.encrypted,
		SourceIP: x.sourceIP, UserAgent: x.r.UserAgent(), TraceID: x.r.Header.Get("X-Amzn-Trace-Id"),
	}
	if x.server.config.LogRequests {
		x.notes = new(protocol.Notes)
		call.Notes = x.notes
	}
	if err := x.authenticateTwice(call, body); err != nil {
		x.fail(err)
		return
	}
	op, perr := x.service.Lookup(x.request)
	if perr != nil {
		x.refuse(perr)
		return
	}
	if err := x.cutOff(); err != nil {
		x.fail(err)
		return
	}
	// Strangers may change nothing there, so that they need not be heard by others.
	if op.Control() && x.server.control.Elsewhere() && x.caller.ARN != "" {
		if x.forwarded { // it has just been given away
			x.fail(control.ErrElsewhere)
			return
		}
		x.relay(body)
		return
	}
	call.Version = x.request.Version
	in, perr := op.Decode(x.request)
	if perr != nil {
		// Nobody learns anything from a mistake before saying who they are.
		if x.caller.ARN == "" {
			perr = service.Denied(call)
		}
		x.refuse(perr)
		return
	}
	x.release()
	out, err := op.Invoke(x.r.Context(), call, in)
	if err != nil {
		var again bool
		if again, err = x.behind(err); again {
			out, err = op.Invoke(x.r.Context(), call, in)
		}
	}
	if err != nil {
		x.fail(err)
		return
	}
	// A consumer that has gone gets no messages, even if they would still fit
	// into the socket's buffer.
	if x.r.Context().Err() != nil {
		x.gone = true
	} else {
		// Short answers stay in net/http's buffer, so that only the flush tells
		// whether there is still a connection.
		x.gone = protocol.WriteResult(x.w, x.service, x.request, op, x.id, out) != nil ||
			http.NewResponseController(x.w).Flush() != nil
	}
	if x.gone {
		call.Undelivered(context.WithoutCancel(x.r.Context()))
	}
}

// body reads the whole body, which has to be in memory to be verified.
func (x *exchange) body() ([]byte, *protocol.Error) {
	if x.r.ContentLength > maxBody {
		return nil, protocol.RequestEntityTooLarge(maxBody)
	}
	reader := http.MaxBytesReader(x.w, x.r.Body, maxBody)
	// Memory grows with what has come, not with what was announced.
	x.buffer = buffers.Get().(*bytes.Buffer)
	x.buffer.Reset()
	x.buffer.Grow(int(min(max(x.r.ContentLength, 0), firstRead)) + bytes.MinRead)
	x.head = io.LimitedReader{R: reader, N: firstRead}
	_, err := x.buffer.ReadFrom(&x.head)
	if err == nil && x.head.N == 0 && x.r.ContentLength != firstRead {
		err = x.readRest(reader)
	}
	perr, refused := errors.AsType[*protocol.Error](err)
	switch tooLarge := (*http.MaxBytesError)(nil); {
	case refused:
		return nil, perr
	case errors.As(err, &tooLarge):
		return nil, protocol.RequestEntityTooLarge(maxBody)
	case err != nil:
		x.cause = fmt.Errorf("read body: %w", err)
		return nil, protocol.InvalidRequest("The body of the request could not be read: it ended early or came too slowly.")
	}
	return x.buffer.Bytes(), nil
}

// buffers have held the bodies of requests that are over.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// release gives back the memory of the body, of which decoding has left nothing
// in use.
func (x *exchange) release() {
	x.request.Body = nil
	if x.buffer.Cap() <= firstRead {
		buffers.Put(x.buffer)
	}
	x.buffer = nil
}

// signatureError is what a client is told whose signature is not accepted.
func signatureError(err error) *protocol.Error {
	var e *signature.Error
	if !errors.As(err, &e) {
		return protocol.InternalError()
	}
	switch e.Kind {
	case signature.IncompleteSignature:
		return protocol.IncompleteSignature("%s", e.Message)
	case signature.UnknownKey:
		perr := protocol.UnrecognizedClient()
		perr.Message = e.Message
		return perr
	case signature.SignatureMismatch, signature.Expired, signature.ScopeMismatch:
		return protocol.InvalidSignature("%s", e.Message)
	case signature.RequestExpired:
		return protocol.RequestExpired("%s", e.Message)
	case signature.InvalidParameterCombination:
		return protocol.InvalidParameterCombination("%s", e.Message)
	case signature.MissingParameter:
		perr := protocol.MissingParameter("")
		perr.Message = e.Message
		return perr
	case signature.MalformedQueryString:
		return protocol.MalformedQueryString("%s", e.Message)
	case signature.InvalidParameter:
		return protocol.InvalidParameterValue("%s", e.Message)
	}
	return protocol.AccessDenied("%s", e.Message)
}

// refuse answers with an error of the client's.
func (x *exchange) refuse(e *protocol.Error) {
	x.err = e
	x.gone = protocol.WriteError(x.w, x.service, x.request, x.id, e) != nil
}

// fail answers with whatever error the operation had.
func (x *exchange) fail(err error) {
	if errors.Is(err, control.ErrElsewhere) || errors.Is(err, control.ErrUnavailable) {
		err = errors.Join(protocol.ServiceUnavailable(), err)
	}
	e := protocol.AsError(err)
	x.denial, _ = errors.AsType[*access.Denial](err)
	if e.Status >= http.StatusInternalServerError {
		x.cause = err
		// The disk's state is logged once, not for everyone who meets with it.
		if x.r.Context().Err() == nil && !service.OfTheDisk(err) {
			x.handler.log.Error("request failed", "request_id", x.id, "operation", x.request.Operation, "error", err)
		}
	}
	x.refuse(e)
}

// log writes the line that --log-requests asks for. The error's text is not in
// it: texts quote what the client sent, such as receipt handles. Who has the
// answer can be asked for it by the request id.
func (x *exchange) log() {
	attrs := []slog.Attr{
		slog.String("request_id", x.id),
		slog.String("remote", x.r.RemoteAddr),
		slog.Duration("duration", time.Since(x.began)),
	}
	if x.request != nil {
		attrs = append(attrs, slog.String("operation", fmt.Sprintf("%.100s", x.request.Operation)), slog.String("protocol", x.request.Kind.String()))
	}
	if x.caller.ARN != "" {
		attrs = append(attrs, slog.String("caller", x.caller.ARN), slog.String("access_key_id", x.caller.AccessKeyID))
	}
	attrs = append(attrs, x.notes.Attrs()...)
	status := http.StatusOK
	if x.err != nil {
		status = x.err.Status
		attrs = append(attrs, slog.String("code", x.err.Code))
	} else if x.relayed != 0 {
		status = x.relayed
		attrs = append(attrs, slog.Bool("relayed", true))
	}
	attrs = append(attrs, slog.Int("status", status))
	if x.denial != nil {
		attrs = append(attrs, slog.String("denied_by", x.denial.Reason()))
	}
	if x.cause != nil {
		attrs = append(attrs, slog.String("cause", x.cause.Error()))
	}
	if x.gone {
		attrs = append(attrs, slog.Bool("undelivered", true))
	}
	x.handler.log.LogAttrs(x.r.Context(), slog.LevelInfo, "request", attrs...)
}

// regionLabel is what regions look like that stand in a host: sqs.example.com
// has none.
var regionLabel = regexp.MustCompile(`^[a-z]{2,}(?:-[a-z]+)+-[0-9]{1,2}$`)

// hostRegion returns the region that a host such as sqs.eu-west-1.example.com,
// or AWS's own older eu-west-1.queue.amazonaws.com, names; or "".
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

// scheme is how the client addressed the server. A proxy that ends TLS says so
// in a header, which is good enough for making URLs for its own client.
func scheme(r *http.Request) string {
	if r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") {
		return "https"
	}
	return "http"
}
