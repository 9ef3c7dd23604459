package http1

import (
	"errors"
	"io"
	"net/http"
)

// body is the body of a request. It reads what has come with the head, and then from the connection.
type body struct {
	x      *exchange
	left   int64
	closed bool
	err    error // that reading met with
}

// errOver is what late users of a request or of its answer get.
var errOver = errors.New("http1: the request is over")

// Read implements io.Reader. It returns io.EOF with the last bytes.
func (b *body) Read(p []byte) (int, error) {
	switch {
	case b.x.over || b.closed:
		return 0, http.ErrBodyReadAfterClose
	case b.err != nil:
		return 0, b.err
	case b.left == 0:
		return 0, io.EOF
	case len(p) == 0:
		return 0, nil
	}
	p = p[:min(int64(len(p)), b.left)]
	n, err := b.x.c.readBody(p)
	b.left -= int64(n)
	if b.left == 0 {
		b.x.c.watch.begin(b.x.cancel)
		return n, io.EOF
	}
	if err != nil {
		b.x.cancel()
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		b.err = err
	}
	return n, err
}

// Close implements io.Closer. What was not read of the body is dealt with when the request is over.
func (b *body) Close() error {
	b.closed = true
	return nil
}

// discard reads the rest of the body, up to most bytes. It returns false if there is more.
func (b *body) discard(most int64) bool {
	if b.left > most || b.err != nil {
		return false
	}
	b.closed = false
	_, err := io.Copy(io.Discard, b)
	return err == nil
}

// readBody reads what is in the buffer, or otherwise from the connection.
func (c *conn) readBody(p []byte) (int, error) {
	if c.in == nil {
		return c.rwc.Read(p)
	}
	n := copy(p, c.in.unread())
	c.in.r += n
	c.releaseUsed()
	return n, nil
}
