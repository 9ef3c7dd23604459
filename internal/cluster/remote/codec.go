package remote

import (
	"encoding/binary"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
)

// Messages are a version byte and then fields in a fixed order, as the engine's
// records are: integers as varints, strings as a length and bytes.
const version = 1

var errMalformed = errors.New("malformed message")

// writer appends fields to a message.
type writer []byte

func (w *writer) byte(b byte)              { *w = append(*w, b) }
func (w *writer) uint(n uint64)            { *w = binary.AppendUvarint(*w, n) }
func (w *writer) int(n int)                { *w = binary.AppendVarint(*w, int64(n)) }
func (w *writer) instant(i queue.Instant)  { *w = binary.AppendVarint(*w, int64(i)) }
func (w *writer) duration(d time.Duration) { *w = binary.AppendVarint(*w, int64(d)) }
func (w *writer) string(s string)          { w.uint(uint64(len(s))); *w = append(*w, s...) }
func (w *writer) raw(b []byte)             { *w = append(*w, b...) }

func (w *writer) bool(b bool) {
	if b {
		w.byte(1)
	} else {
		w.byte(0)
	}
}

func (w *writer) optional(d *time.Duration) {
	if w.bool(d != nil); d != nil {
		w.duration(*d)
	}
}

// scratch is where messages are written before their length is known.
var scratch = sync.Pool{New: func() any { return new(writer) }}

// largestScratch is the most memory that a writer may keep for its next use.
const largestScratch = 1 << 20

func newWriter() *writer {
	w := scratch.Get().(*writer)
	*w = (*w)[:0]
	return w
}

func (w *writer) release() {
	if cap(*w) <= largestScratch {
		scratch.Put(w)
	}
}

// reader takes fields off a message. The first failure sticks, and what is read
// after it is zero.
//
// The strings that it returns share the memory of the whole message, which
// lives and dies with what it carries.
type reader struct {
	rest   string
	node   string // where the message comes from, to be named in errors
	failed bool
}

func newReader(message []byte) *reader { return &reader{rest: string(message)} }

func (r *reader) fail() {
	r.failed = true
	r.rest = ""
}

func (r *reader) byte() byte {
	if r.rest == "" {
		r.fail()
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

func (r *reader) uint() uint64 {
	var n uint64
	for i := range min(len(r.rest), binary.MaxVarintLen64) {
		b := r.rest[i]
		if i == binary.MaxVarintLen64-1 && b > 1 {
			break
		}
		n |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			r.rest = r.rest[i+1:]
			return n
		}
	}
	r.fail()
	return 0
}

func (r *reader) signed() int64 {
	n := r.uint()
	return int64(n>>1) ^ -int64(n&1)
}

func (r *reader) int() int                { return int(r.signed()) }
func (r *reader) instant() queue.Instant  { return queue.Instant(r.signed()) }
func (r *reader) duration() time.Duration { return time.Duration(r.signed()) }
func (r *reader) string() string          { return r.raw(r.uint()) }

// ownString is string for what may be kept for longer than the message.
func (r *reader) ownString() string { return strings.Clone(r.string()) }

func (r *reader) raw(n uint64) string {
	if n > uint64(len(r.rest)) {
		r.fail()
		return ""
	}
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

func (r *reader) bool() bool {
	b := r.byte()
	if b > 1 {
		r.fail()
	}
	return b == 1
}

func (r *reader) optional() *time.Duration {
	if !r.bool() {
		return nil
	}
	d := r.duration()
	return &d
}

// done insists that all of the message was read and made sense.
func (r *reader) done() error {
	if r.failed || r.rest != "" {
		return errMalformed
	}
	return nil
}

// putAll writes a list, and getAll reads one, whose elements take at least size
// bytes each: a message cannot ask for more memory than in proportion to its
// length.
func putAll[T any](w *writer, list []T, put func(*writer, *T)) {
	w.uint(uint64(len(list)))
	for i := range list {
		put(w, &list[i])
	}
}

func getAll[T any](r *reader, size int, get func(*reader, *T)) []T {
	n := r.uint()
	if n > uint64(len(r.rest)/size) {
		r.fail()
		return nil
	}
	if n == 0 {
		return nil
	}
	list := make([]T, n)
	for i := range list {
		if get(r, &list[i]); r.failed {
			return nil
		}
	}
	return list
}
