package remote

import (
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/tool/varint"
)

// Messages are a version byte and then fields in a fixed order, as the engine's
// records are: integers as varints, strings as a length and bytes.
const version = 1

var errMalformed = errors.New("malformed message")

// writer appends fields to a message.
type writer struct{ varint.Writer }

func (w *writer) Instant(i queue.Instant)  { w.Int(int64(i)) }
func (w *writer) Duration(d time.Duration) { w.Int(int64(d)) }

func (w *writer) Bool(b bool) {
	if b {
		w.Byte(1)
	} else {
		w.Byte(0)
	}
}

func (w *writer) Optional(d *time.Duration) {
	if w.Bool(d != nil); d != nil {
		w.Duration(*d)
	}
}

// scratch is where messages are written before their length is known.
var scratch = sync.Pool{New: func() any { return new(writer) }}

// largestScratch is the maximum memory that a writer keeps for its next use.
const largestScratch = 1 << 20

func newWriter() *writer {
	w := scratch.Get().(*writer)
	w.Writer = w.Writer[:0]
	return w
}

func (w *writer) release() {
	if cap(w.Writer) <= largestScratch {
		scratch.Put(w)
	}
}

// reader reads fields from a message, one after the other. The first failure sticks, and later reads return zero
// values.
//
// The strings that it returns share the memory of the whole message, so any of them keeps the message in memory.
type reader struct {
	varint.Reader[string]
	node string // the sender of the message, for errors
}

func newReader(message []byte) *reader { return &reader{Reader: varint.NewReader(string(message))} }

func (r *reader) Instant() queue.Instant  { return queue.Instant(r.Int()) }
func (r *reader) Duration() time.Duration { return time.Duration(r.Int()) }

// ownString is String for values that outlive the message.
func (r *reader) ownString() string { return strings.Clone(r.String()) }

func (r *reader) Bool() bool {
	b := r.Byte()
	if b > 1 {
		r.Fail()
	}
	return b == 1
}

func (r *reader) Optional() *time.Duration {
	if !r.Bool() {
		return nil
	}
	d := r.Duration()
	return &d
}

// done returns an error unless the whole message was read and is valid.
func (r *reader) done() error {
	if r.Failed() || r.Left() != 0 {
		return errMalformed
	}
	return nil
}

// putAll writes a list, and getAll reads one, whose elements take at least size bytes each. So a message cannot
// allocate memory out of proportion to its length.
func putAll[T any](w *writer, list []T, put func(*writer, *T)) {
	w.Uint(uint64(len(list)))
	for i := range list {
		put(w, &list[i])
	}
}

func getAll[T any](r *reader, size int, get func(*reader, *T)) []T {
	n := r.Uint()
	if n > uint64(r.Left()/size) {
		r.Fail()
		return nil
	}
	if n == 0 {
		return nil
	}
	list := make([]T, n)
	for i := range list {
		if get(r, &list[i]); r.Failed() {
			return nil
		}
	}
	return list
}
