package queue

import (
	"encoding/binary"
	"fmt"
)

// Records are a version byte and then fields in a fixed order: integers as
// varints, strings as a length and bytes. A reader refuses a version it does
// not know; it never guesses.
const recordVersion = 1

// writer appends fields to a record.
type writer []byte

func newRecord(size int) writer {
	return append(make(writer, 0, size), recordVersion)
}

func (w *writer) uint(n uint64)     { *w = binary.AppendUvarint(*w, n) }
func (w *writer) instant(i Instant) { *w = binary.AppendUvarint(*w, uint64(i)) }
func (w *writer) string(s string)   { w.uint(uint64(len(s))); *w = append(*w, s...) }
func (w *writer) raw(b []byte)      { *w = append(*w, b...) }

// reader takes fields off a record. The first failure sticks.
type reader struct {
	rest []byte
	err  error
}

func readRecord(b []byte) *reader { return readRecordUpTo(recordVersion, b) }

// readRecordUpTo begins to read a record that may be of any version up to the newest.
func readRecordUpTo(newest byte, b []byte) *reader {
	r := &reader{rest: b}
	switch {
	case len(b) == 0:
		r.err = errRecordMalformed
	case b[0] < recordVersion || b[0] > newest:
		r.err = fmt.Errorf("%w (%d)", errRecordNewVersion, b[0])
	default:
		r.rest = b[1:]
	}
	return r
}

func (r *reader) fail() {
	if r.err == nil {
		r.err = errRecordMalformed
	}
	r.rest = nil
}

func (r *reader) uint() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *reader) instant() Instant { return Instant(r.uint()) }

func (r *reader) raw(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.fail()
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) string() string { return string(r.raw(r.uint())) }

// done returns the error of the record, if any; a record that was not read to its end
// is malformed.
func (r *reader) done(what string) error {
	if r.err == nil && len(r.rest) != 0 {
		r.err = errRecordMalformed
	}
	if r.err != nil {
		return fmt.Errorf("%s: %w", what, r.err)
	}
	return nil
}
