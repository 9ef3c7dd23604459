package queue

import "github.com/sluicemq/sluice/internal/formats"

// transaction is the current transaction, which all parts of the engine share: the store, the time, and how much work
// may still be done. Engine.Begin starts it, Engine.End ends it.
//
//   - now never goes back, and is the same for the whole transaction.
//   - tx is nil between End and Begin.
//   - A queue is in touched exactly if base.touched is set.
type transaction struct {
	tx         Txn
	now        Instant
	limit      int     // see Engine.Limit
	work       int     // messages touched by housekeeping since Advance or Receive began
	touched    []*base // queues whose records and wake-ups End updates
	forceWrite bool    // the clock is written even if nothing else is
	format     int     // see Engine.Format
	scratch    []byte  // for a record that is about to be set
	memory     Memory  // nil: there is none
	keyScratch [48]byte
}

// Memory receives the record of every message that the engine writes, under its key, before the transaction is durable.
type Memory interface {
	// Put must copy what it keeps.
	Put(key, record []byte)
}

// Remember makes the engine pass on its messages from now on.
func (t *transaction) Remember(m Memory) { t.memory = m }

// key begins a key for one call of tx. The next call of key reuses its memory.
func (t *transaction) key(q ID, table byte) key { return appendTableKey(t.keyScratch[:0], q, table) }

// Now returns the engine's time.
func (t *transaction) Now() Instant { return t.now }

// ForceWrite makes the transaction write something even if it changes nothing: the
// commit then shows whether the store can be written.
func (t *transaction) ForceWrite() { t.forceWrite = true }

// Limit sets the size in bytes from which on a transaction postpones all work that can wait. It stays in force until
// the next call. A newly loaded engine has no limit.
//
// Each call of the engine may exceed the limit by one indivisible piece of work: the move of a message, a row of a
// series, or the request of a client.
func (t *transaction) Limit(bytes int) { t.limit = bytes }

// Full reports whether the transaction has reached its limit. Work that can wait is then left to the next one.
func (t *transaction) Full() bool { return t.room() <= 0 }

// room returns by how many bytes the transaction may still grow.
func (t *transaction) room() int { return t.limit - t.tx.Size() }

// spent reports whether housekeeping has used up its budget for this transaction.
func (t *transaction) spent() bool { return t.work >= workAtOnce || t.Full() }

// spend counts the work of moving a message to another queue.
func (t *transaction) spend(m *Message) { t.work += 1 + len(m.Body)>>10 }

// Format returns the lowest data directory format that covers everything that the engine has read and written, as far
// as it knows. The owner must raise the format of the directory before it makes the transaction durable.
func (t *transaction) Format() int { return max(formats.First, t.format) }

// needs raises Format.
func (t *transaction) needs(format int) { t.format = max(t.format, format) }
