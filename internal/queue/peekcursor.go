package queue

import "github.com/sluicemq/sluice/internal/tool/varint"

// A cursor, version 1:
//
//	version shard phase due position

const peekCursorVersion = 1

// Encode returns the cursor as bytes, for other nodes and for clients, which must not interpret them.
func (c PeekCursor) Encode() []byte {
	w := varint.Writer{peekCursorVersion}
	w.Uint(uint64(c.Shard))
	w.Byte(byte(c.phase))
	w.Uint(uint64(c.due))
	w.Uint(uint64(c.position))
	return w
}

// DecodePeekCursor reads a cursor made by Encode. It returns false for anything else.
func DecodePeekCursor(b []byte) (c PeekCursor, ok bool) {
	r := varint.NewReader(b)
	version := r.Byte()
	shard := r.Uint()
	c.place = place{phase: phase(r.Byte()), due: Instant(r.Uint()), position: Position(r.Uint())}
	ok = !r.Failed() && r.Left() == 0 && version == peekCursorVersion && shard <= 1<<16 && c.phase < phaseEnd &&
		c.due >= 0
	if !ok {
		return PeekCursor{}, false
	}
	c.Shard = int(shard)
	return c, true
}
