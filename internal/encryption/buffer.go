package encryption

import (
	"slices"
	"sync"
	"unsafe"

	"github.com/sluicemq/sluice/internal/queue"
)

// largestBuffer is the maximum memory that is kept for the next use, in bytes.
const largestBuffer = 64 << 10

// scratch is the memory that an AEAD needs besides text and key. It is pooled with the buffer, because otherwise it
// would be allocated on the heap.
type scratch struct {
	nonce [12]byte
	bound [boundSize]byte
}

// buffers holds memory for bodies that are decrypted.
var buffers = sync.Pool{New: func() any { return new(buffer) }}

type buffer struct {
	scratch
	bytes []byte
}

// newBuffer returns a buffer that must be released.
func newBuffer() *buffer { return buffers.Get().(*buffer) }

// release keeps the buffer for the next use. It clears b, which was allocated from the buffer or is nil.
func (s *buffer) release(b []byte) {
	clear(b)
	if b != nil {
		s.bytes = b[:0]
	}
	if cap(s.bytes) > largestBuffer {
		s.bytes = nil
	}
	buffers.Put(s)
}

// Sealed holds encrypted messages, in memory that is reused.
//
// The bodies of the messages share the memory of one buffer, so Release may be called only when nothing uses any of the
// bodies anymore. A queue keeps only what it encodes, not the body, so Release may be called once a send has returned
// without an error. A send that has failed may still be in progress: then Release must not be called, and the memory is
// left to the garbage collector. A body that was changed under a reader does not decrypt, so a mistake here would not
// go unnoticed.
type Sealed struct {
	Messages []queue.Outgoing
	bytes    []byte
	scratch
}

var sealed = sync.Pool{New: func() any { return new(Sealed) }}

// roomForOne is enough for the overhead of an encrypted message, unless it has many attributes.
const roomForOne = 200

// seal encrypts messages under a data key.
func seal(d *dataKey, messages []queue.Outgoing) *Sealed {
	s := sealed.Get().(*Sealed)
	s.Messages = append(s.Messages[:0], messages...)
	size := 0
	for i := range messages {
		size += messages[i].Content().Size() + roomForOne
	}
	w := slices.Grow(s.bytes[:0], size)
	for i := range s.Messages {
		m := &s.Messages[i]
		begins := len(w)
		w = encryptWhole(w, &s.scratch, d, aMessage, m.ID, m.Content())
		body := w[begins:] // if w grows later, this stays where it is
		m.Encrypted(unsafe.String(unsafe.SliceData(body), len(body)), nil)
	}
	s.bytes = w
	return s
}

// Release keeps the memory for other messages. No body of s may still be in use.
func (s *Sealed) Release() {
	clear(s.Messages)
	if cap(s.bytes) > largestBuffer {
		s.bytes = nil
	}
	sealed.Put(s)
}
