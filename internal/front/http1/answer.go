package http1

import (
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// maxJoined is how much of an answer is joined into one piece before it is sent.
	maxJoined = 16 << 10
	// maxKept is the largest answer buffer that is reused.
	maxKept = maxJoined + 4<<10
)

// errLeft is the error of writes to a client that has left.
var errLeft = errors.New("http1: the client has left")

// answer is the part of an answer that a handler has written.
type answer struct {
	header  http.Header
	status  int     // 0: it has not begun
	length  int64   // of the body, if it is known; otherwise -1
	written int64   // of the body, by the handler
	pending []byte  // of a body whose length is not known yet
	out     *[]byte // unsent header and body; nil: there is no header yet
	err     error   // error of sending
}

var outputs = sync.Pool{New: func() any {
	b := make([]byte, 0, 1<<10)
	return &b
}}

// Header implements http.ResponseWriter.
func (x *exchange) Header() http.Header { return x.answer.header }

// WriteHeader implements http.ResponseWriter. It sends no informational answers, which are optional.
func (x *exchange) WriteHeader(status int) {
	a := &x.answer
	switch {
	case status < 100 || status > 999:
		panic("http1: invalid status " + strconv.Itoa(status))
	case x.over || a.status != 0 || status < 200:
		return
	}
	a.status = status
	text := a.header.Get("Content-Length")
	n, err := strconv.ParseInt(text, 10, 64)
	if text == "" || err != nil || n < 0 {
		a.header.Del("Content-Length")
		return
	}
	a.length = n
}

// Write implements http.ResponseWriter. It buffers short pieces.
func (x *exchange) Write(p []byte) (int, error) {
	if x.answer.status == 0 {
		x.WriteHeader(http.StatusOK)
	}
	a := &x.answer
	switch {
	case x.over:
		return 0, errOver
	case len(p) == 0:
		return 0, nil
	case !hasBody(a.status):
		return 0, http.ErrBodyNotAllowed
	case a.length >= 0 && a.written+int64(len(p)) > a.length:
		return 0, http.ErrContentLength
	}
	if a.written == 0 && a.header["Content-Type"] == nil && a.header.Get("Content-Encoding") == "" {
		a.header.Set("Content-Type", http.DetectContentType(p))
	}
	a.written += int64(len(p))
	return len(p), x.take(p)
}

// take joins a part of the body with the unsent part, or sends both.
func (x *exchange) take(p []byte) error {
	a := &x.answer
	if a.out == nil && a.length < 0 {
		if a.pending = append(a.pending, p...); len(a.pending) <= maxJoined {
			return nil
		}
		return x.flush(true)
	}
	x.begin()
	if len(*a.out)+len(p) <= maxJoined {
		*a.out = append(*a.out, p...)
		return nil
	}
	return x.send(p, true)
}

// flush sends everything written. An answer of unknown length then ends with the connection. ask is passed to send.
func (x *exchange) flush(ask bool) error {
	x.begin()
	*x.answer.out = append(*x.answer.out, x.answer.pending...)
	x.answer.pending = nil
	return x.send(nil, ask)
}

// FlushError sends the buffered bytes, for http.ResponseController. It returns an error if the client has left.
func (x *exchange) FlushError() error { return x.flushNow(true) }

// Flush implements http.Flusher. It does not find out whether the client has left.
func (x *exchange) Flush() { _ = x.flushNow(false) }

func (x *exchange) flushNow(ask bool) error {
	if x.over {
		return errOver
	}
	if x.answer.status == 0 {
		x.WriteHeader(http.StatusOK)
	}
	return x.flush(ask)
}

// begin writes the header of the answer, unless it exists. It decides whether the connection ends with the answer.
func (x *exchange) begin() {
	a := &x.answer
	if a.out != nil {
		return
	}
	x.settle()
	a.out = outputs.Get().(*[]byte)
	*a.out = appendHeader(appendStatus((*a.out)[:0], a.status), a.header)
	if a.header["Date"] == nil {
		*a.out = append(append(append(*a.out, "Date: "...), date(time.Now())...), "\r\n"...)
	}
	if a.length >= 0 && hasBody(a.status) {
		*a.out = append(strconv.AppendInt(append(*a.out, "Content-Length: "...), a.length, 10), "\r\n"...)
	}
	if x.close && a.header["Connection"] == nil {
		*a.out = append(*a.out, "Connection: close\r\n"...)
	}
	*a.out = append(*a.out, "\r\n"...)
}

// settle decides whether another request may follow. If so, it reads the part of the body that the handler has left.
func (x *exchange) settle() {
	a := &x.answer
	x.close = x.close || strings.EqualFold(a.header.Get("Connection"), "close") || !x.c.server.keepsAlive() ||
		a.length < 0 && hasBody(a.status)
	if !x.close && !x.duplex && !x.body.discard() {
		x.close = true
	}
}

// send sends the joined part, followed by more. If it has to ask, it sends nothing to a client that has left.
func (x *exchange) send(more []byte, ask bool) error {
	a := &x.answer
	switch {
	case a.err != nil:
		return a.err
	case len(*a.out)+len(more) == 0:
		return nil
	case x.endWatch(ask):
		a.err = errLeft
		return a.err
	}
	if err := x.c.setWriteDeadline(x.deadline); err != nil {
		a.err = err
	} else if len(more) == 0 {
		_, a.err = x.c.rwc.Write(*a.out)
	} else {
		_, a.err = (&net.Buffers{*a.out, more}).WriteTo(x.c.rwc)
	}
	*a.out = (*a.out)[:0]
	return a.err
}

// setWriteDeadline sets a deadline for sending an answer. Zero means none.
func (c *conn) setWriteDeadline(at time.Time) error {
	if suffices(c.writeBy, at, c.server.http.WriteTimeout) {
		return nil
	}
	c.writeBy = at
	return c.rwc.SetWriteDeadline(at)
}

// release returns the buffer of the answer.
func (a *answer) release() {
	if a.out != nil && cap(*a.out) <= maxKept {
		outputs.Put(a.out)
	}
	a.out = nil
}

// appendStatus appends a status line.
func appendStatus(b []byte, status int) []byte {
	b = strconv.AppendInt(append(b, "HTTP/1.1 "...), int64(status), 10)
	text := http.StatusText(status)
	if text == "" {
		text = "status code " + strconv.Itoa(status)
	}
	return append(append(append(b, ' '), text...), "\r\n"...)
}

// hasBody reports whether answers of a status have a body.
func hasBody(status int) bool {
	return status != http.StatusNoContent && status != http.StatusNotModified
}
