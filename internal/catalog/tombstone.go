package catalog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/queue"
)

// tombstoneTable has the ids of deleted queues, by block. A shard removes what it holds of a queue that the catalog
// does not list only if there is a tombstone: that a queue is not listed proves nothing, because the catalog may be
// older than the queue.
//
// Tombstones are never removed. They are stored as ranges, and ids are assigned in order, so they take no more space
// than the remaining queues. Each block of ids has a record of its own, which limits what a deletion writes.
//
//	tombstones/BLOCK  →  [[FIRST,LAST],…]    ids, both included, in ascending order
//
// The record of block 0 exists as soon as there are tombstones. The deletion that writes it also writes the tombstones
// of all queues that were deleted earlier, by programs that did not write any.
var tombstoneTable = control.Table[uint64, idRanges]{
	Prefix: "tombstones/", Key: control.Key[uint64]{Text: textOf, Parse: parseBlock}, Format: formats.Tombstones,
	Read: decodeRanges,
}

func textOf(block uint64) string { return strconv.FormatUint(block, 10) }

func parseBlock(text string) (uint64, error) { return strconv.ParseUint(text, 10, 64) }

// idRange is a range of ids, from the first to the last, both included.
type idRange [2]queue.ID

// idRanges are the tombstones of a block.
type idRanges []idRange

const tombstonesInBlock = 1024

func blockOf(id queue.ID) uint64 { return uint64(id) / tombstonesInBlock }

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

// hasBuried reports whether an id has a tombstone.
func (r *records) hasBuried(id queue.ID) bool {
	ranges := r.buried[blockOf(id)]
	if ranges == nil {
		return false
	}
	_, found := slices.BinarySearchFunc(*ranges, id, idRange.compare)
	return found
}

// hasTombstones reports whether deletions write tombstones.
func (r *records) hasTombstones() bool { return r.buried[0] != nil }

// with returns ranges that include one more id. It does not modify the given ranges.
func (ranges idRanges) with(id queue.ID) idRanges {
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

func decodeRanges(block uint64, v []byte) (*idRanges, error) {
	var ranges idRanges
	if err := json.Unmarshal(v, &ranges); err != nil {
		return nil, err
	}
	for i, r := range ranges {
		if r[0] > r[1] || blockOf(r[0]) != block || blockOf(r[1]) != block || i > 0 && r[0] <= ranges[i-1][1] {
			return nil, fmt.Errorf("%d to %d is no range of ids here", r[0], r[1])
		}
	}
	return &ranges, nil
}

// bury writes the tombstone of a queue that the transaction deletes.
//
// Only the first tombstones wait until all programs can read them. Later ones must not wait: a node that has just
// started does not know the versions of nodes that are away, and a queue that it deleted without a tombstone would
// leave its data forever.
func (tx *Tx) bury(id queue.ID) error {
	if begun, err := tx.buries(); !begun || err != nil {
		return err
	}
	return tx.buryOne(id)
}

// buries reports whether the transaction may write tombstones. It writes the first ones.
func (tx *Tx) buries() (bool, error) {
	gate := &tx.c.gate
	first, err := tx.tx.Get(tombstoneTable.KeyOf(0))
	if err != nil || first == nil && !gate.AllRead(formats.Tombstones) {
		return false, err
	}
	if err := gate.Pass(formats.Tombstones); err != nil {
		return false, err
	}
	if first == nil {
		tx.buryAll()
	}
	return true, nil
}

// Skip makes the catalog assign no id up to last to a queue. A shard has data of queues with such ids that the catalog
// does not know: it is older than they are, or is lost. These queues get no tombstones, and no new queue gets their
// data.
func (tx *Tx) Skip(last queue.ID) error {
	r := tx.c.records.RLock()
	known := control.Only(r.lastID)
	tx.c.records.RUnlock()
	if last <= known {
		return nil
	}
	if _, err := tx.buries(); err != nil { // before the ids of these queues count as assigned
		return err
	}
	lastIDTable.Put(tx.tx, alone, &last)
	return nil
}

func (tx *Tx) buryOne(id queue.ID) error {
	var ranges idRanges
	switch found, err := tombstoneTable.Get(tx.tx, blockOf(id)); {
	case err != nil:
		return err
	case found != nil:
		ranges = *found
	}
	ranges = ranges.with(id)
	tombstoneTable.Put(tx.tx, blockOf(id), &ranges)
	return nil
}

// buryAll writes the first tombstones: those of all queues that were deleted.
func (tx *Tx) buryAll() {
	r := tx.c.records.RLock()
	defer tx.c.records.RUnlock()
	blocks := map[uint64]idRanges{0: {}}
	for id := queue.ID(1); id <= control.Only(r.lastID); id++ {
		if r.find(id) == nil {
			blocks[blockOf(id)] = blocks[blockOf(id)].with(id)
		}
	}
	for block, ranges := range blocks {
		tombstoneTable.Put(tx.tx, block, &ranges)
	}
}

// Deleted reports whether the catalog knows that the queue with that id was deleted. It does not know that of a queue
// that is newer than the catalog. As long as there are no tombstones, it knows of no deletion.
func (c *Catalog) Deleted(id queue.ID) bool {
	r := c.records.RLock()
	defer c.records.RUnlock()
	return r.hasBuried(id)
}
