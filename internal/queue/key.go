package queue

import (
	"encoding/binary"
	"fmt"
)

// Position identifies a message in its queue. It is never reused. Positions of
// the line, and positions of indexed messages, each grow in order of arrival.
type Position uint64

// indexedBit distinguishes the positions of indexed messages from positions of the line.
const indexedBit Position = 1 << 63

func (p Position) indexed() bool { return p&indexedBit != 0 }

func (p Position) String() string {
	if p.indexed() {
		return fmt.Sprintf("i%d", uint64(p&^indexedBit))
	}
	return fmt.Sprintf("l%d", uint64(p))
}

const (
	tableMeta     = '!'
	tableMessage  = 'm'
	tableReceived = 's'
	tableDelay    = 'd'
	tableMember   = 'x'
	tableGroup    = 'g'
	tableRota     = 'r'
	tableAge      = 'e'
	tableDedup    = 'k'
	tableTask     = 't'
	tableChoice   = 'c'
	tableBlock    = 'v'
	tableName     = 'w'
	tableOwnName  = 'n'
	tablePaused   = 'p'

	tableOutbox        = '@'
	tableOutboxMessage = 'f'
	tableAccepted      = 'a'

	tableBacklog     = 'B'
	tablePublication = 'P'
	tableTopic       = 'T'
)

// key is a key under construction.
type key []byte

func tableKey(q ID, table byte) key { return appendTableKey(make(key, 0, 48), q, table) }

func appendTableKey(k key, q ID, table byte) key { return append(k.uint64(uint64(q)), table) }

func (k key) uint64(n uint64) key           { return binary.BigEndian.AppendUint64(k, n) }
func (k key) instant(i Instant) key         { return k.uint64(uint64(i)) }
func (k key) position(p Position) key       { return k.uint64(uint64(p)) }
func (k key) string(s string) key           { return append(k, s...) }
func (k key) byte(b byte) key               { return append(k, b) }
func messageKey(q ID, p Position) key       { return tableKey(q, tableMessage).position(p) }
func metaKey(q ID) key                      { return tableKey(q, tableMeta) }
func ownNameKey(q ID) key                   { return tableKey(q, tableOwnName) }
func rotaKey(q ID, order uint64) key        { return tableKey(q, tableRota).uint64(order) }
func taskKey(q ID, started Instant) key     { return tableKey(q, tableTask).instant(started) }
func choiceKey(q ID, started Instant) key   { return tableKey(q, tableChoice).instant(started) }
func outboxKey(q ID) key                    { return tableKey(q, tableOutbox) }
func outboxMessageKey(q ID, p Position) key { return tableKey(q, tableOutboxMessage).position(p) }
func acceptedKey(q ID, from FromShard) key {
	return tableKey(q, tableAccepted).uint64(uint64(from.Shard))
}

// edition selects which of two tables hold the rows of a queue's received messages, delays and ages. A purge that can
// be undone leaves the rows in place and switches to the other edition; see kept.
type edition bool

// table returns the letter of one of these tables.
func (e edition) table(first byte) byte {
	if e {
		return first - 'a' + 'A'
	}
	return first
}

// editions are the tables that have two.
var editions = []byte{tableReceived, tableDelay, tableAge}

// The letters of the second edition.
const (
	secondDelay    = 'D'
	secondAge      = 'E'
	secondReceived = 'S'
)

func (e edition) receivedKey(q ID, p Position) key {
	return tableKey(q, e.table(tableReceived)).position(p)
}

func (e edition) delayKey(q ID, t Instant, p Position) key {
	return tableKey(q, e.table(tableDelay)).instant(t).position(p)
}

func (e edition) ageKey(q ID, t Instant, p Position) key {
	return tableKey(q, e.table(tableAge)).instant(t).position(p)
}

func (e edition) tableRange(q ID, first byte) (lo, hi []byte) { return tableRange(q, e.table(first)) }

// groupKey, pausedKey and memberKey end the group's name with a zero byte, which no name contains, so the keys of one
// group are contiguous.
func groupKey(q ID, group string) key  { return tableKey(q, tableGroup).string(group).byte(0) }
func pausedKey(q ID, group string) key { return tableKey(q, tablePaused).string(group).byte(0) }
func memberKey(q ID, group string, p Position) key {
	return tableKey(q, tableMember).string(group).byte(0).position(p)
}

// memberRange returns the range of keys of a group's members from p on.
func memberRange(q ID, group string, p Position) (lo, hi []byte) {
	return memberKey(q, group, p), tableKey(q, tableMember).string(group).byte(1)
}

// Range returns the keys of a queue, from lo up to but not including hi.
func Range(q ID) (lo, hi []byte) { return queueRange(q) }

// queueRange returns the range of all keys of a queue, tableRange that of one of its tables.
func queueRange(q ID) (lo, hi []byte) {
	return key(nil).uint64(uint64(q)), key(nil).uint64(uint64(q) + 1)
}

func tableRange(q ID, table byte) (lo, hi []byte) {
	return tableKey(q, table), tableKey(q, table+1)
}

// ofShard replaces the queue's id in keys that the shard has only once. No queue has this id.
const ofShard ID = 0

// backlogKey is the key of the backlog's record, publicationKey the key of a publication in it.
var backlogKey = tableKey(ofShard, tableBacklog)

func publicationKey(n uint64) key { return tableKey(ofShard, tablePublication).uint64(n) }

// shared replaces the queue's id in the keys of tables that all queues of a shard share. It is greater than all ids.
const shared ID = 1 << 63

// dedupKey returns the beginning of the keys of a queue in a slot.
func dedupKey(slot uint64, q ID) key { return slotKey(slot).uint64(uint64(q)) }
func slotKey(slot uint64) key        { return tableKey(shared, tableDedup).uint64(slot) }

// queueOf returns the queue of a key.
func queueOf(k []byte) (ID, bool) {
	if len(k) < 9 {
		return 0, false
	}
	return ID(binary.BigEndian.Uint64(k)), true
}

// tail returns the n-th last uint64 of a key, counted from 0.
func tail(k []byte, n int) uint64 {
	end := len(k) - 8*n
	if end < 8 {
		return 0
	}
	return binary.BigEndian.Uint64(k[end-8 : end])
}
