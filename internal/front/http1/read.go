package http1

import (
	"errors"
	"io"
	"time"
)

// maxNewlines is how many CR and LF may precede a request: some old clients send them, and net/http skips as many.
const maxNewlines = 4

// readHead reads until a head is complete, or known not to be plain. An error means that the connection must be closed.
//
// A first request begins with its connection. Later ones begin with their first byte, for which the connection waits at
// most its idle time.
func (c *conn) readHead() (length int, v verdict, err error) {
	c.began = c.accepted
	if c.newlines > 0 { // there was a request before
		if c.in == nil {
			c.setReadDeadline(time.Now(), c.server.idleTimeout())
			if err := c.read(); err != nil {
				return 0, foreign, err
			}
		}
		c.began = time.Now()
	}
	for limited := false; ; limited = true {
		if length, v = c.judge(); v != incomplete {
			return length, v, nil
		}
		if !limited {
			c.setReadDeadline(c.began, c.server.headerTimeout())
		}
		if err := c.read(); errors.Is(err, io.EOF) && c.in != nil {
			return 0, foreign, nil // net/http decides whether half a head deserves an answer
		} else if err != nil {
			return 0, foreign, err
		}
	}
}

// judge examines the received bytes, after the newlines that may precede a request.
func (c *conn) judge() (length int, v verdict) {
	for c.in != nil && c.newlines > 0 && (c.in.b[c.in.r] == '\r' || c.in.b[c.in.r] == '\n') {
		c.newlines--
		c.in.r++
		c.releaseUsed()
	}
	if c.in == nil {
		return 0, incomplete
	}
	return judge(c.in.unread())
}

// read waits for bytes and adds them to the buffer, which must not be full. Without a buffer it takes one when bytes
// have arrived.
func (c *conn) read() error {
	if c.in == nil && c.socket.raw != nil {
		in, err := c.socket.await()
		c.in = in
		return err
	}
	if c.in == nil {
		c.in = takeBuffer()
	}
	n, err := c.rwc.Read(c.in.free())
	c.in.w += n
	c.releaseUsed()
	if n > 0 {
		return nil
	}
	return err
}

// keep adds a byte to the buffer that was read past the end of a request. There is room for it: until the next request
// is read, the buffer holds only bytes that came behind the head of this one.
func (c *conn) keep(b byte) {
	if c.in == nil {
		c.in = takeBuffer()
	}
	c.in.free()[0] = b
	c.in.w++
}

// releaseUsed returns the buffer if it has no unused bytes.
func (c *conn) releaseUsed() {
	if c.in != nil && c.in.r == c.in.w {
		c.releaseBuffer()
	}
}

func (c *conn) releaseBuffer() {
	if c.in != nil {
		buffers.Put(c.in)
		c.in = nil
	}
}

// setReadDeadline sets a deadline for the next reads. Zero means none.
func (c *conn) setReadDeadline(from time.Time, d time.Duration) {
	var at time.Time
	if d > 0 {
		at = from.Add(d)
	}
	if !suffices(c.readBy, at, d) {
		c.readBy = at
		_ = c.rwc.SetReadDeadline(at) // reading fails, too, if the connection is closed
	}
}

// suffices reports whether a deadline that is set can stay where another one is due, because it is only a little
// earlier: by less than a hundredth of the limit. So a busy connection seldom sets deadlines.
func suffices(set, due time.Time, limit time.Duration) bool {
	early := due.Sub(set)
	return !set.IsZero() && early >= 0 && early < limit/100
}
