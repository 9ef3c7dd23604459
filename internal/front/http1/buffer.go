package http1

import "sync"

// bufferSize is the maximum size of a head that is read here. Heads of SDKs have one to three kilobytes, and a small
// message fits in behind them.
const bufferSize = 8 << 10

// buffer holds the unused bytes read from a connection: b[r:w].
type buffer struct {
	r, w int
	b    [bufferSize]byte
}

var buffers = sync.Pool{New: func() any { return new(buffer) }}

// takeBuffer returns an empty buffer.
func takeBuffer() *buffer {
	in := buffers.Get().(*buffer)
	in.r, in.w = 0, 0
	return in
}

// unread returns the unused bytes.
func (in *buffer) unread() []byte { return in.b[in.r:in.w] }

// free returns the rest of the buffer, after moving its contents to the beginning.
func (in *buffer) free() []byte {
	if in.r > 0 {
		in.w = copy(in.b[:], in.unread())
		in.r = 0
	}
	return in.b[in.w:]
}
