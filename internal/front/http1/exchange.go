package http1

import (
	"context"
	"net/http"
	"time"
)

// exchange is a request and its answer. It is the handler's http.ResponseWriter, with all methods that
// http.ResponseController looks for, except those that take the connection over.
type exchange struct {
	c      *conn
	cancel context.CancelFunc // ends the request's context
	body   body
	answer answer
	over   bool // the handler has returned: goroutines that it left behind must stop
	gone   bool // the client has left

	deadline time.Time // of sending; zero: none
	close    bool      // the connection ends with the answer
	duplex   bool      // the rest of the body belongs to the handler
}

// answer lets the handler answer a request. It returns false if the connection must be closed.
func (c *conn) answer(h *head) (again bool) {
	ctx, cancel := context.WithCancel(&c.base)
	defer cancel()
	x := &exchange{c: c, cancel: cancel, answer: answer{header: make(http.Header, 4), length: -1}}
	x.body.x, x.body.left = x, h.length
	if d := c.server.http.WriteTimeout; d > 0 {
		x.deadline = time.Now().Add(d)
	}
	defer func() {
		x.over = true
		x.answer.release()
	}()
	c.server.http.Handler.ServeHTTP(x, x.request(ctx, h))
	cancel()
	return x.finish()
}

// request returns the request as net/http would pass it to a handler.
func (x *exchange) request(ctx context.Context, h *head) *http.Request {
	c, r := x.c, new(http.Request).WithContext(ctx)
	r.Method, r.Proto, r.ProtoMajor, r.ProtoMinor = http.MethodPost, "HTTP/1.1", 1, 1
	r.URL, r.RequestURI, r.Host, r.RemoteAddr = h.url, h.target, h.host, c.remote
	r.Header, r.ContentLength = h.header, h.length
	if h.length == 0 {
		r.Body = http.NoBody
		c.releaseUsed()
		c.watch.begin(x.cancel)
		return r
	}
	r.Body = &x.body
	if int64(len(c.in.unread())) < h.length {
		c.setReadDeadline(c.began, c.server.http.ReadTimeout)
	}
	c.releaseUsed()
	return r
}

// endWatch stops watching the client, and reports whether it has left. It relies on the watch; without one, it checks
// the connection if necessary. It keeps a byte of the next request.
func (x *exchange) endWatch(ask bool) (gone bool) {
	w := &x.c.watch
	if !w.begun {
		return x.gone
	}
	var next []byte
	known := w.end()
	if !w.stayedYoung {
		x.c.readBy = time.Time{}
	}
	if known {
		x.gone, next = w.gone, w.one[:w.n]
	} else if ask {
		x.gone, next = x.c.socket.ended()
	}
	if len(next) > 0 {
		x.c.keep(next[0])
	}
	if x.gone {
		x.cancel()
	}
	return x.gone
}

// lingerFor is how long a client may take to read an answer before the connection ends while it still sends.
const lingerFor = 500 * time.Millisecond

// finish sends the rest of the answer when the handler has returned. It returns false if the connection must be closed.
func (x *exchange) finish() (again bool) {
	a := &x.answer
	if a.status == 0 {
		x.WriteHeader(http.StatusOK)
	}
	if a.out == nil && a.length < 0 {
		a.length = a.written
	}
	if x.flush(false) != nil {
		return false
	}
	if !x.body.discard() {
		if x.body.err == nil {
			x.c.linger()
		}
		return false
	}
	// Reading the rest of a body after the answer has restarted the watch.
	return !x.endWatch(false) && !x.close && (a.length == a.written || !hasBody(a.status))
}

// linger shuts down the sending side and gives the client time to read. Closing a connection with unread bytes can
// discard the answer.
func (c *conn) linger() {
	if w, ok := c.rwc.(interface{ CloseWrite() error }); ok && w.CloseWrite() == nil {
		time.Sleep(lingerFor)
	}
}

// SetReadDeadline sets a deadline for reading the rest of the body, for http.ResponseController.
func (x *exchange) SetReadDeadline(t time.Time) error {
	if x.over {
		return errOver
	}
	x.c.readBy = time.Time{}
	return x.c.rwc.SetReadDeadline(t)
}

// SetWriteDeadline sets a deadline for sending the answer.
func (x *exchange) SetWriteDeadline(t time.Time) error {
	x.deadline, x.c.writeBy = t, time.Time{}
	return nil
}

// EnableFullDuplex leaves the rest of the body to the handler, which may read it after it has answered.
func (x *exchange) EnableFullDuplex() error {
	x.duplex = true
	return nil
}
