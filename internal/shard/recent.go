package shard

import (
	"encoding/binary"
	"sync"
)

const (
	// recentMessages limits the cached messages, and recentLength the length of each record. Together they take at most
	// about 5 MiB.
	recentMessages = 1024
	recentLength   = 4 << 10
)

// recent is the queue.Memory of a shard: the records of messages that its engine has recently written. Consumers that
// keep up with producers need not read them from the store.
//
// Each message has one possible slot, which it shares with others: the last one written takes it. So all accounts
// compete for the slots, and a message that has lost its slot is read from the store.
//
// A record is here before it is durable. That is safe, because only delivered messages are read, and those are durable.
// A failed transaction leaves records behind whose positions will be used again, so a newly loaded engine begins with
// an empty memory.
type recent struct {
	mu     sync.Mutex
	places []recentRecord // nil before the first record
}

type recentRecord struct {
	queue, position uint64 // of the message; 0: the slot is empty
	record          []byte
}

// place returns the slot of a message, and its queue and position, which are in its key. Neighbours in a queue have
// different slots.
func (r *recent) place(key []byte) (at *recentRecord, queue, position uint64) {
	const spread = 0x9e3779b97f4a7c15 // different queues often use the same positions
	queue, position = binary.BigEndian.Uint64(key), binary.BigEndian.Uint64(key[len(key)-8:])
	return &r.places[(queue*spread>>32+position)%recentMessages], queue, position
}

// Put implements queue.Memory.
func (r *recent) Put(key, record []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.places == nil {
		r.places = make([]recentRecord, recentMessages)
	}
	at, queue, position := r.place(key)
	if len(record) > recentLength {
		*at = recentRecord{}
		return
	}
	at.queue, at.position, at.record = queue, position, append(at.record[:0], record...)
}

// clear forgets all messages.
func (r *recent) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.places = nil
}

// append appends the record of a message to buf, and reports whether it is here.
func (r *recent) append(buf, key []byte) (record []byte, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.places == nil {
		return buf, false
	}
	at, queue, position := r.place(key)
	if at.queue != queue || at.position != position {
		return buf, false
	}
	return append(buf, at.record...), true
}
