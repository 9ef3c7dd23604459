package front

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/aws/signature"
)

// A body has to be in memory as a whole to be verified. Its memory grows with what has come, not with what was announced,
// and is taken from the budget that all requests share.

const (
	// firstBuffer is what a request gets before anything of its body has come.
	firstBuffer = 4 << 10
	// pooledBuffer is the largest buffer that is used again. A request that sends more than that must not be a forgery
	// on the face of it.
	pooledBuffer = 64 << 10
	bufferGrowth = 4 // from one size to the next, of buffers that are used again
)

// buffers have held the bodies of requests that are over: 4, 16 and 64 KiB.
var buffers [3]sync.Pool

// pool returns the pool of buffers of a size, or nil.
func pool(size int) *sync.Pool {
	of := firstBuffer
	for i := range buffers {
		if size == of {
			return &buffers[i]
		}
		of *= bufferGrowth
	}
	return nil
}

// memory is what a request has taken of the budget for what it sends.
type memory struct {
	buffer []byte // the body as far as it has come
	taken  int64
	judged bool // whether it is known if the request names a key
	named  bool // the request names a known access key
	large  bool // it has got more than a buffer that is used again
}

// readBody reads the whole body.
func (x *request) readBody() ([]byte, error) {
	if x.r.ContentLength == 0 {
		return nil, nil
	}
	x.unread = true
	if x.r.ContentLength > MaxBody {
		return nil, protocol.RequestEntityTooLarge(MaxBody)
	}
	err := x.fill(http.MaxBytesReader(x.w, x.r.Body, MaxBody))
	if err == nil {
		x.unread = false
		return x.memory.buffer, nil
	}
	x.releaseBody()
	if _, ok := errors.AsType[*protocol.Error](err); ok {
		return nil, err
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, protocol.RequestEntityTooLarge(MaxBody)
	}
	x.unread = false
	x.cause = fmt.Errorf("read body: %w", err)
	return nil, protocol.InvalidRequest("The body of the request could not be read: it ended early or came too slowly.")
}

func (x *request) fill(from io.Reader) error {
	m := &x.memory
	if err := x.reserve(headerSize(x.r.Header) + firstBuffer); err != nil {
		return err
	}
	m.buffer = takeBuffer(firstBuffer)
	for {
		if len(m.buffer) == cap(m.buffer) {
			if err := x.grow(); err != nil {
				return err
			}
		}
		n, err := from.Read(m.buffer[len(m.buffer):cap(m.buffer)])
		m.buffer = m.buffer[:len(m.buffer)+n]
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// grow makes the buffer larger, and takes the memory for that.
func (x *request) grow() error {
	m := &x.memory
	have := cap(m.buffer)
	size := have * bufferGrowth
	if have >= pooledBuffer {
		if err := x.judge(); err != nil {
			return err
		}
		size = min(2*have, MaxBody+1) // one more, to meet the end
		if announced := int(x.r.ContentLength); announced >= have {
			size = min(size, announced+1)
		}
	}
	if err := x.reserve(int64(size - have)); err != nil {
		return err
	}
	larger := append(takeBuffer(size), m.buffer...)
	giveBuffer(m.buffer)
	m.buffer = larger
	return nil
}

// judge refuses a request that is a forgery on the face of it, and finds out whether it names a known access key.
func (x *request) judge() error {
	m := &x.memory
	if m.judged {
		return nil
	}
	named := false
	err := x.retryIfBehind(func() (err error) {
		named, err = signature.Foresee(signature.FromHTTP(x.r, nil), x.began, x.lookup)
		if err != nil {
			return signatureError(err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	m.judged, m.named = true, named
	return nil
}

// reserve takes n bytes from what all requests share. Only when there is little left does it matter who sends the
// request: then those that name a known access key come first, and of these the small ones, and those that have begun to
// grow.
func (x *request) reserve(n int64) error {
	m := &x.memory
	if !m.judged && x.front.memory.try(n, unverified) {
		m.taken += n
		return nil
	}
	if err := x.judge(); err != nil {
		return err
	}
	large := cap(m.buffer)+int(n) > pooledBuffer
	r := growing
	switch {
	case !m.named:
		r = unverified
	case large && !m.large:
		r = started
	}
	ctx, cancel := context.WithTimeout(x.r.Context(), x.front.limits.Wait)
	defer cancel()
	if err := x.front.memory.take(ctx, n, r); err != nil {
		return errors.Join(protocol.ServiceUnavailable(), errOverload, fmt.Errorf("wait for memory for the body: %w", err))
	}
	m.taken += n
	m.large = large
	return nil
}

// releaseBody gives back the buffer, of which decoding has left nothing in use. A long poll, whose request is short,
// keeps no memory while it waits; a longer request keeps what it has taken until it is over, as a decoded copy of the
// body is there until then.
func (x *request) releaseBody() {
	m := &x.memory
	if x.parsed != nil {
		x.parsed.Body = nil
	}
	short := cap(m.buffer) <= firstBuffer
	giveBuffer(m.buffer)
	m.buffer = nil
	if short {
		x.giveBack()
	}
}

// takeBuffer returns an empty buffer of that size.
func takeBuffer(size int) []byte {
	if p := pool(size); p != nil {
		if b, ok := p.Get().(*[]byte); ok {
			return (*b)[:0]
		}
	}
	return make([]byte, 0, size)
}

// giveBuffer keeps a buffer for another request.
func giveBuffer(b []byte) {
	if p := pool(cap(b)); p != nil {
		b = b[:cap(b)]
		p.Put(&b)
	}
}

// giveBack gives back all memory that was taken.
func (x *request) giveBack() {
	if x.memory.taken > 0 {
		x.front.memory.give(x.memory.taken)
		x.memory.taken = 0
	}
}

// headerSize returns about how much memory a header takes.
func headerSize(h http.Header) (n int64) {
	const each = 64 // the entry in the map, the list, the texts' own headers
	for name, values := range h {
		n += each + int64(len(name))
		for _, v := range values {
			n += int64(len(v))
		}
	}
	return n
}

const (
	// Bytes that a client goes on to send after an early refusal are read and thrown away, so that it reads the answer
	// instead of finding its connection cut. Both size and time are bounded.
	maxDrained = 32 << 20
	drainTime  = 5 * time.Second
)

// refuseEarly has write answer the client while that may still be sending. HTTP/2 has a way to say that no more is
// wanted, and a client that has asked whether to send the body waits for the answer.
func (x *request) refuseEarly(write func() error) error {
	if x.r.ProtoMajor != 1 || x.r.Header.Get("Expect") != "" {
		return write()
	}
	x.giveBack()
	control := http.NewResponseController(x.w)
	if err := control.EnableFullDuplex(); err != nil { // otherwise net/http reads first
		return write()
	}
	x.w.Header().Set("Connection", "close")
	if err := errors.Join(write(), control.Flush(), control.SetReadDeadline(time.Now().Add(drainTime))); err != nil {
		return err
	}
	_, _ = io.CopyN(io.Discard, x.r.Body, maxDrained) // the connection ends in any case
	return nil
}
