package queue

import (
	"slices"

	"github.com/sluicemq/sluice/internal/tool/varint"
)

// GroupsCursor records the progress of a list of groups on each shard of a queue, ordered by shard number. A single
// shard has the number 0. The empty cursor is the beginning.
type GroupsCursor []ShardPosition

// ShardPosition is a position on a shard.
type ShardPosition struct {
	Shard    int
	Position Position
}

// At returns the position of the list on a shard.
func (c GroupsCursor) At(shard int) Position {
	for _, p := range c {
		if p.Shard == shard {
			return p.Position
		}
	}
	return 0
}

// A cursor, version 1:
//
//	version (shard position)*

const (
	groupsCursorVersion = 1
	maxCursorShards     = 1 << 12
)

// Encode returns the cursor as bytes, for other nodes and for clients. Clients must not interpret them.
func (c GroupsCursor) Encode() []byte {
	w := varint.Writer{groupsCursorVersion}
	for _, p := range c {
		w.Uint(uint64(p.Shard))
		w.Uint(uint64(p.Position))
	}
	return w
}

// DecodeGroupsCursor reads a cursor made by Encode. It returns false for anything else.
func DecodeGroupsCursor(b []byte) (c GroupsCursor, ok bool) {
	r := varint.NewReader(b)
	if r.Byte() != groupsCursorVersion {
		return nil, false
	}
	for r.Left() > 0 && len(c) <= maxCursorShards {
		shard, position := r.Uint(), Position(r.Uint())
		if shard > maxCursorShards || r.Failed() {
			return nil, false
		}
		c = append(c, ShardPosition{int(shard), position})
	}
	return c, !r.Failed() && len(c) <= maxCursorShards &&
		slices.IsSortedFunc(c, func(a, b ShardPosition) int { return a.Shard - b.Shard })
}
