package front

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// Stream is an operation whose answer is a long file instead of a document. Clients request it with a signed GET on its
// own path.
type Stream struct {
	Path      string
	Service   string // that the signature names
	Operation string
	Authorize func(call *protocol.Call) error
	// Serve writes the answer. Until Begin is called, an error becomes the answer.
	Serve func(ctx context.Context, call *protocol.Call, out *StreamWriter) error
}

// streamIdle is how long a client may take to accept the next part of a stream.
const streamIdle = 2 * time.Minute

// StreamWriter writes a long answer.
type StreamWriter struct {
	x       *request
	control *http.ResponseController
}

// Prepare allows a duration before the answer begins. The connection's own deadlines are for short requests.
func (s *StreamWriter) Prepare(most time.Duration) error {
	return errors.Join(
		s.control.SetReadDeadline(time.Time{}), s.control.SetWriteDeadline(time.Now().Add(most+streamIdle)),
	)
}

// Begin begins the answer, which can no longer become an error. The writer fails when ctx has ended.
func (s *StreamWriter) Begin(ctx context.Context, contentType string) io.Writer {
	s.x.result.begun = true
	h := s.x.w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Amzn-RequestId", s.x.id)
	return &deadlineWriter{ctx, s.x.w, s.control}
}

// serveStream answers a request for a stream.
func (x *request) serveStream(stream *Stream) {
	x.who.service = x.front.serviceNamed(stream.Service)
	x.parsed = &protocol.Request{Kind: protocol.JSON, Operation: stream.Operation, Target: x.who.service.Target}
	err := x.stream(stream)
	switch {
	case err != nil && x.result.begun:
		x.result.cause, x.result.gone = err, true
		x.front.Log.Warn("an answer was not finished", "operation", stream.Operation, "request_id", x.id, "error", err)
	case err != nil:
		x.fail(err)
	}
}

func (x *request) stream(stream *Stream) error {
	f := x.front
	if err := x.identify(nil); err != nil {
		return err
	}
	if err := f.isolated(&x.arrival, &x.who); err != nil {
		return err
	}
	authorize := func() error { return stream.Authorize(x.call) }
	if err := f.retryIfBehind(&x.arrival, x.who.caller.ARN != "", authorize); err != nil {
		return err
	}
	return stream.Serve(x.r.Context(), x.call, &StreamWriter{x, http.NewResponseController(x.w)})
}

// deadlineWriter gives a client time for each part of a long answer.
type deadlineWriter struct {
	ctx     context.Context
	w       io.Writer
	control *http.ResponseController
}

func (d *deadlineWriter) Write(b []byte) (int, error) {
	if err := d.ctx.Err(); err != nil {
		return 0, err
	}
	if err := d.control.SetWriteDeadline(time.Now().Add(streamIdle)); err != nil {
		return 0, err
	}
	return d.w.Write(b)
}
