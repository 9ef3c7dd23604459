package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/aws/signature"
)

// readRest reads what is longer than most bodies are. For that a request must
// not be a forgery on the face of it, and the memory is taken from the budget.
func (x *exchange) readRest(from io.Reader) error {
	foresee := func() (named bool, err error) {
		return signature.Foresee(signature.FromHTTP(x.r, nil), x.began, func(keyID string) (string, bool) {
			cred, ok := x.server.lookup(keyID)
			return cred.Secret, ok
		})
	}
	named, err := foresee()
	if err != nil {
		again, refusal := x.behind(signatureError(err))
		if !again {
			return refusal
		}
		if named, err = foresee(); err != nil {
			return signatureError(err)
		}
	}
	r := beginning
	if !named {
		r = stranger
	}
	b := append(make([]byte, 0, x.buffer.Len()), x.buffer.Bytes()...)
	x.buffer.Reset()
	buffers.Put(x.buffer)
	x.buffer = nil
	for {
		if len(b) == cap(b) {
			size := min(2*cap(b), maxBody+1) // one more, to meet the end
			if announced := int(x.r.ContentLength); announced >= len(b) {
				size = min(size, announced+1)
			}
			if err := x.take(int64(size-cap(b)), r); err != nil {
				return err
			}
			b = append(make([]byte, 0, size), b...)
			if r == beginning {
				r = goingOn
			}
		}
		n, err := from.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if errors.Is(err, io.EOF) {
			x.buffer = bytes.NewBuffer(b)
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// take takes memory for the body from what all requests share.
func (x *exchange) take(n int64, r rank) error {
	ctx, cancel := context.WithTimeout(x.r.Context(), x.server.config.limits.bodyWait)
	defer cancel()
	if err := x.server.bodies.take(ctx, n, r); err != nil {
		x.cause = fmt.Errorf("wait for memory for the body: %w", err)
		return protocol.ServiceUnavailable()
	}
	x.taken += n
	return nil
}

// giveBack gives back what was taken. That is done when the request is over:
// until then there is a decoded copy of the body, if not the body itself.
func (x *exchange) giveBack() {
	if x.taken > 0 {
		x.server.bodies.give(x.taken)
		x.taken = 0
	}
}
