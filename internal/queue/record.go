package queue

import (
	"fmt"

	"github.com/sluicemq/sluice/internal/tool/varint"
)

// A record consists of a version byte and fields in a fixed order. A reader refuses unknown versions.
const recordVersion = 1

// writer appends fields to a record.
type writer struct{ varint.Writer }

func newRecord(size int) writer { return beginRecord(make([]byte, 0, size)) }

// beginRecord begins a record in the memory of buf.
func beginRecord(buf []byte) writer { return writer{append(varint.Writer(buf[:0]), recordVersion)} }

// Bool appends a truth value.
func (w *writer) Bool(b bool) {
	if b {
		w.Byte(1)
	} else {
		w.Byte(0)
	}
}

// Instant appends an instant.
func (w *writer) Instant(i Instant) { w.Uint(uint64(i)) }

// reader reads fields from a record, one after the other. The first failure sticks.
type reader struct {
	varint.Reader[[]byte]
	version error // of a record of another version
}

// readRecord begins to read a record. It is short enough to be inlined, which saves an allocation for the reader.
func readRecord(b []byte) *reader {
	r := &reader{Reader: varint.NewReader(b)}
	r.begin(recordVersion)
	return r
}

// readRecordUpTo begins to read a record that may be of any version up to the newest.
func readRecordUpTo(newest byte, b []byte) *reader {
	r := &reader{Reader: varint.NewReader(b)}
	r.begin(newest)
	return r
}

// begin takes the version.
func (r *reader) begin(newest byte) {
	if version := r.Byte(); !r.Failed() && (version < recordVersion || version > newest) {
		r.version = fmt.Errorf("%w (%d)", errRecordNewVersion, version)
		r.Fail()
	}
}

// Bool takes a truth value.
func (r *reader) Bool() bool {
	b := r.Byte()
	if b > 1 {
		r.Fail()
	}
	return b == 1
}

// Instant takes an instant.
func (r *reader) Instant() Instant { return Instant(r.Uint()) }

// count takes the length of a list whose elements take at least size bytes each.
func (r *reader) count(size int) int {
	n := r.Uint()
	if n > uint64(r.Left()/size) {
		r.Fail()
		return 0
	}
	return int(n)
}

// err returns why the record cannot be read, or nil.
func (r *reader) err() error {
	switch {
	case r.version != nil:
		return r.version
	case r.Failed():
		return errRecordMalformed
	}
	return nil
}

// done returns the error of the record, if any. A record with bytes left over is malformed.
func (r *reader) done(what string) error {
	if r.Left() != 0 {
		r.Fail()
	}
	if err := r.err(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// encodeTimed returns the value of a row of delays or of ages: an instant, and the group of the message.
func encodeTimed(at Instant, group string) []byte {
	w := newRecord(16 + len(group))
	w.Instant(at)
	w.String(group)
	return w.Writer
}

// decodeTimed reads such a row. what names it in errors.
func decodeTimed(row []byte, what string) (at Instant, group string, err error) {
	r := readRecord(row)
	at, group = r.Instant(), r.String()
	return at, group, r.done(what)
}
