package catalog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/queue"
)

// tombstones are the ids of deleted queues. A shard removes what it holds of a queue that the catalog does not list only
// if there is a tombstone: that a queue is not listed proves nothing, because the catalog may be older than the queue.
//
// Tombstones stay for ever. They are kept as ranges, and ids are given in order, so that they take no more room than the
// queues that are left. Blocks bound what a deletion writes: each block of ids has a record of its own.
//
//	tombstones/BLOCK  →  [[FIRST,LAST],…]    ids, both included, in ascending order
//
// The record of block 0 is there as soon as there are tombstones. The deletion that writes it also buries all queues that
// were deleted before, when programs did not write tombstones.
type tombstones map[uint64][]idRange

// idRange is a range of ids: the first and the last.
type idRange [2]queue.ID

const (
	keyTombstones     = "tombstones/"
	tombstonesInBlock = 1024
)

func blockOf(id queue.ID) uint64       { return uint64(id) / tombstonesInBlock }
func tombstoneKey(block uint64) string { return keyTombstones + strconv.FormatUint(block, 10) }

// compare returns whether the range lies before an id (-1), holds it (0), or lies behind it (1).
func (r idRange) compare(id queue.ID) int {
	switch {
	case r[1] < id:
		return -1
	case id < r[0]:
		return 1
	}
	return 0
}

func (t tombstones) has(id queue.ID) bool {
	_, found := slices.BinarySearchFunc(t[blockOf(id)], id, idRange.compare)
	return found
}

// with returns ranges that hold one more id. The given ones stay as they are.
func with(ranges []idRange, id queue.ID) []idRange {
	i, ok := slices.BinarySearchFunc(ranges, id, idRange.compare)
	if ok {
		return ranges
	}
	out := slices.Insert(slices.Clone(ranges), i, idRange{id, id})
	if i+1 < len(out) && out[i+1][0] == id+1 {
		out[i][1] = out[i+1][1]
		out = slices.Delete(out, i+1, i+2)
	}
	if i > 0 && out[i-1][1]+1 == id {
		out[i-1][1] = out[i][1]
		out = slices.Delete(out, i, i+1)
	}
	return out
}

// put reads a record.
func (t tombstones) put(k string, v []byte) error {
	block, err := strconv.ParseUint(k[len(keyTombstones):], 10, 64)
	if err != nil {
		return err
	}
	ranges, err := decodeRanges(block, v)
	if err != nil {
		return err
	}
	t[block] = ranges
	return nil
}

func decodeRanges(block uint64, v []byte) (ranges []idRange, err error) {
	if err := json.Unmarshal(v, &ranges); err != nil {
		return nil, err
	}
	for i, r := range ranges {
		if r[0] > r[1] || blockOf(r[0]) != block || blockOf(r[1]) != block || i > 0 && r[0] <= ranges[i-1][1] {
			return nil, fmt.Errorf("%d to %d is no range of ids here", r[0], r[1])
		}
	}
	return ranges, nil
}

// allReadTombstones reports whether every program that may open the store reads tombstones.
func (c *Catalog) allReadTombstones() bool { return c.readTombstones() == nil }

// bury writes the tombstone of a queue that the transaction deletes.
func (tx *Tx) bury(id queue.ID) error {
	if !tx.c.allReadTombstones() {
		return nil
	}
	if err := tx.c.requireTombstones(); err != nil {
		return err
	}
	first, err := tx.tx.Get(tombstoneKey(0))
	if err != nil {
		return err
	}
	if first == nil {
		tx.buryAll()
	}
	return tx.buryOne(id)
}

func (tx *Tx) buryOne(id queue.ID) error {
	key := tombstoneKey(blockOf(id))
	v, err := tx.tx.Get(key)
	if err != nil {
		return err
	}
	var ranges []idRange
	if v != nil {
		if ranges, err = decodeRanges(blockOf(id), v); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	tx.tx.Put(key, encode(with(ranges, id)))
	return nil
}

// buryAll writes the first tombstones: those of all queues that are gone.
func (tx *Tx) buryAll() {
	c := tx.c
	c.mu.RLock()
	defer c.mu.RUnlock()
	blocks := map[uint64][]idRange{0: {}}
	for id := queue.ID(1); id <= c.lastID; id++ {
		if c.byID[id] == nil {
			blocks[blockOf(id)] = with(blocks[blockOf(id)], id)
		}
	}
	for block, ranges := range blocks {
		tx.tx.Put(tombstoneKey(block), encode(ranges))
	}
}

// Deleted reports whether the catalog knows that the queue with that id was deleted. It does not know that of a queue
// that is newer than the catalog, nor of one that was deleted while not all nodes could read tombstones.
func (c *Catalog) Deleted(id queue.ID) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.buried.has(id)
}

// isTombstone reports whether a change writes tombstones.
func isTombstone(ch control.Change) bool {
	return !ch.Removed && strings.HasPrefix(ch.Key, keyTombstones)
}
