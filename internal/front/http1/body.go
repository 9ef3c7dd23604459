package http1

import (
	"errors"
	"io"
	"net/http"
)

// body is the body of a request. It reads what came with the head, and then from the connection.
type body struct {
	x      *exchange
	left   int64
	closed bool
	err    error // error of reading
}

// errOver is the error for users of a request or its answer after its end.
var errOver = errors.New("http1: the request is over")

// Read implements io.Reader. It returns io.EOF with the last bytes.
func (b *body) Read(p []byte) (int, error) {
	switch {
	case b.x.over || b.closed:
		return 0, http.ErrBodyReadAfterClose
	case b.left == 0:
		return 0, io.EOF
	case b.err != nil:
		return 0, b.err
	case len(p) == 0:
		return 0, nil
	}
	return b.read(p)
}

// read reads at least one of the remaining bytes, unless it fails.
func (b *body) read(p []byte) (int, error) {
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

// Close implements io.Closer. The server deals with the rest of the body when it sends the answer.
func (b *body) Close() error {
	b.closed = true
	return nil
}

// maxDiscarded is how much of a body that the handler has not read is discarded, as in net/http: some clients read no
// answer before they have sent everything.
const maxDiscarded = 256 << 10

// discard reads the rest of the body, unless the rest is too long. It returns false if it did not read all of it.
func (b *body) discard() bool {
	var scratch []byte
	for b.left > 0 && b.left <= maxDiscarded && b.err == nil {
		if scratch == nil {
			scratch = make([]byte, min(b.left, 4<<10))
		}
		_, _ = b.read(scratch) // which notes its error
	}
	return b.left == 0
}

// readBody reads from the buffer or, if it is empty, from the connection.
func (c *conn) readBody(p []byte) (int, error) {
	if c.in == nil {
		return c.rwc.Read(p)
	}
	n := copy(p, c.in.unread())
	c.in.r += n
	c.releaseUsed()
	return n, nil
}
