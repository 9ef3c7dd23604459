package queue

import (
	"fmt"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/formats"
)

// UndoInterval is how long a purge can be undone.
const UndoInterval = 10 * time.Minute

// A purge that can be undone removes no message. It sets a boundary behind the last assigned position, and keeps
// everything in front of it: the heads of the queue move to the boundary, so no scan reaches the kept messages. Rows
// that are not in order of position have no such boundary: the rows of received messages, delays and ages stay in their
// tables, and the queue continues in the other edition of these tables. Groups and their turns are rebuilt from the
// messages.
//
//	before    m: ●●●●●●●●●           s, d, e: rows          queue: rows, heads, counters
//	purged    m: ○○○○○○○○○│          s, d, e: kept rows     S, D, E: empty
//	later     m: ○○○○○○○○○│●●        s, d, e: kept rows     S, D, E: rows of what has come since
//	undone    m: ●●●●●●●●●│●●        s, d, e: dropped       S, D, E: rows of both
//
// The kept messages are dropped when time runs out, on another purge, or when disk space is low, with a few range
// deletions. An undo restores them, a bounded number in each transaction: first the received messages, then the others.
//
//   - A message returns to its old position, with its id, sequence number, receives and receipts. In a group it is in
//     front of newer messages, as if there had been no purge. A message of the line that was never received becomes an
//     indexed one, unless no message has joined the line since.
//   - If the consumer of a kept message deletes it, an undo does not restore it, because the consumer got a success.
//   - While an undo restores a FIFO queue, receives return nothing: the first message of a group may not be restored
//     yet.
//   - Copies in the backlog, and messages in the outboxes of other shards, are not kept.
type kept struct {
	*base
	keptRecord
	promised Instant // an undo is not refused before; see MayUndoPurge
}

// undoPhase is the progress of an undo. Its numbers are stored.
type undoPhase uint8

const (
	undoNone   undoPhase = iota // no undo
	undoHeld                    // restores received messages, in order of position
	undoOthers                  // restores the others
)

// keptRecord is the stored state of kept.
type keptRecord struct {
	since    Instant  // the time of the purge; 0: nothing is kept
	line     Position // behind the kept messages of the line
	waited   Position // the first kept message of the line that was never received
	indexed  Position // no kept indexed message is behind it
	messages uint64   // that are kept
	bytes    uint64   // of the purged messages; 0: unknown; see Purging
	held     uint64   // of the kept messages, received
	delayed  uint64   // of the kept messages, waiting for their delay to end
	places   uint64   // free places in the rota, up to this one, for restored groups
	// forgotten is the deduplication's state before the purge.
	forgotten forgottenRecord
	undo      undoPhase
	at        Position // where the undo continues in its phase
	postpones bool     // FIFO: the undo may make messages wait for the rest of their delay
}

// Kept describes the messages of a queue's last purge that an undo can restore.
type Kept struct {
	Since    Instant // when the queue was purged; 0: nothing is kept
	Until    Instant // the purge can be undone before
	Messages uint64  // that are kept
	Bytes    uint64  // approximate size of the kept messages; 0: unknown
	Undoing  bool    // an undo is in progress and continues in further transactions
}

// KeepPurged sets whether purges keep the messages for an undo. It has no effect until every program can read kept
// messages; see Allow. A newly loaded engine keeps nothing.
func (e *Engine) KeepPurged(keep bool) { e.keepPurged = keep }

// keepsPurged reports whether purges keep the messages.
func (e *Engine) keepsPurged() bool { return e.keepPurged && (e.reads == 0 || e.reads >= formats.Kept) }

// ForgetPurged drops the kept messages of all purges without an undo in progress or promised.
func (e *Engine) ForgetPurged() {
	for _, q := range e.queues {
		if q.kept.undo == undoNone && !q.kept.promises() {
			q.dropKept()
		}
	}
}

// Kept describes the messages that the last purge of a queue has kept.
func (e *Engine) Kept(id ID) (Kept, error) {
	q, err := e.queueAtPresent(id)
	if err != nil {
		return Kept{}, err
	}
	return q.kept.describe(), nil
}

func (k *kept) describe() Kept {
	if k.since == 0 {
		return Kept{}
	}
	return Kept{
		Since: k.since, Until: k.since.Add(UndoInterval), Messages: k.messages, Bytes: k.bytes, Undoing: k.undoes(),
	}
}

// UndoPurge starts to restore the messages that the last purge of a queue has kept, and describes them. It returns
// ErrNothingKept if there are none, ErrTaskRunning while a task moves messages of the queue, because the task has
// counted the messages, and ErrOverLimit if the undo would exceed the limit of messages in flight. If an undo is
// already in progress, the call changes nothing.
func (e *Engine) UndoPurge(id ID) (Kept, error) {
	q, err := e.queueAtPresent(id)
	if err != nil {
		return Kept{}, err
	}
	if err := q.mayUndo(); err != nil {
		return Kept{}, err
	}
	what := q.kept.describe()
	if what.Undoing {
		return what, nil
	}
	q.kept.promised = 0
	q.dedup.forgottenRecord = q.kept.forgotten
	q.kept.undo, q.kept.at = undoHeld, 0
	q.kept.postpones = !q.cfg.FIFO || q.stored == q.delays.count
	q.groups.mixed = q.cfg.FIFO
	q.markDirty()
	err = q.restoreKept()
	what.Undoing = q.kept.undoes()
	return what, err
}

// undoPromise is how long a shard keeps its word that it does not refuse an undo. Meanwhile, the router asks the other
// shards of the queue, and tells all of them to begin.
const undoPromise = 10 * time.Second

// MayUndoPurge returns the refusal that UndoPurge would give now, and restores nothing. Without a refusal, it promises
// that UndoPurge does not refuse within undoPromise: the kept messages stay, no task starts, and received ones keep
// their room. A newly loaded engine has promised nothing.
func (e *Engine) MayUndoPurge(id ID) error {
	q, err := e.queueAtPresent(id)
	if err != nil {
		return err
	}
	if err := q.mayUndo(); err != nil {
		return err
	}
	q.kept.promised = q.now.Add(undoPromise)
	return nil
}

// promises reports whether an undo has not begun and is promised.
func (k *kept) promises() bool { return k.since != 0 && k.undo == undoNone && k.now < k.promised }

// mayUndo returns the reason why an undo cannot begin or continue, or nil.
func (q *queue) mayUndo() error {
	switch {
	case q.kept.since == 0:
		return ErrNothingKept
	case q.kept.undoes(), q.kept.promises():
		return nil
	case q.moves.running() != nil:
		return ErrTaskRunning
	case q.kept.held > 0 && uint64(len(q.held.at))+q.kept.held > uint64(q.cfg.maxInFlight()):
		return ErrOverLimit
	}
	return nil
}

// keepAll empties the queue and keeps its messages. bytes is their size, or 0 if it is unknown.
func (q *queue) keepAll(bytes uint64) {
	q.rota.last += uint64(len(q.held.at)) // an undo may take a place for each of these; see groups.reactivate
	q.kept.keptRecord = keptRecord{
		since: q.now, line: q.line.next, waited: q.line.head, indexed: q.index.last | indexedBit,
		messages: q.stored, bytes: bytes, held: uint64(len(q.held.at)), delayed: q.delays.count, places: q.rota.last,
		forgotten: q.dedup.forgottenRecord,
	}
	q.dedup.forget(q.index.sequence(q.index.last), q.held.receipts)
	q.rows = !q.rows
	for _, table := range []byte{tableMember, tableGroup, tableRota} {
		q.tx.DeleteRange(tableRange(q.cfg.ID, table))
	}
}

// dropKept removes the kept messages and rows.
func (q *queue) dropKept() {
	if q.kept.since == 0 {
		return
	}
	id := q.cfg.ID
	q.tx.DeleteRange(messageKey(id, 0), messageKey(id, q.kept.line))
	q.tx.DeleteRange(messageKey(id, indexedBit), messageKey(id, q.kept.indexed+1))
	q.kept.dropRows()
	q.kept.keptRecord, q.kept.promised = keptRecord{}, 0
	q.markDirty()
}

// dropRows removes the kept rows.
func (k *kept) dropRows() {
	for _, table := range editions {
		k.tx.DeleteRange((!k.rows).tableRange(k.cfg.ID, table))
	}
}

// wakeAt returns when advanceKept has work to do, or never.
func (k *kept) wakeAt() Instant {
	switch {
	case k.since == 0:
		return never
	case k.undo != undoNone:
		return k.now
	case k.promises():
		return k.promised
	}
	return k.since.Add(UndoInterval)
}

// advanceKept continues an undo, or drops the kept messages after UndoInterval.
func (q *queue) advanceKept() error {
	switch {
	case q.kept.since == 0:
		return nil
	case q.kept.undo != undoNone:
		return q.restoreKept()
	case q.now >= q.kept.since.Add(UndoInterval) && !q.kept.promises():
		q.dropKept()
	}
	return nil
}

// undoes reports whether an undo is in progress.
func (k *keptRecord) undoes() bool { return k.undo != undoNone }

// arriving returns how many received messages an undo in progress, or a promised one, must still restore.
func (k *kept) arriving() int {
	if k.undo != undoHeld && !k.promises() {
		return 0
	}
	return int(k.held)
}

// within reports whether p is in front of the purge's boundary.
func (k *keptRecord) within(p Position) bool {
	if p.indexed() {
		return p <= k.indexed
	}
	return p < k.line
}

// hides reports whether a message at p is kept, if the queue has no row of a received message for it.
func (k *keptRecord) hides(p Position) bool {
	return k.since != 0 && k.within(p) && (k.undo != undoOthers || p >= k.at)
}

// hidesReceived reports whether a message at p that was received may be kept.
func (k *keptRecord) hidesReceived(p Position) bool {
	return k.since != 0 && k.within(p) && (k.undo == undoNone || k.undo == undoHeld && p >= k.at)
}

// deleteKept removes a kept message that was received, because its consumer deletes it.
func (q *queue) deleteKept(p Position) error {
	if !q.kept.hidesReceived(p) {
		return nil
	}
	row := (!q.rows).receivedKey(q.cfg.ID, p)
	if b, err := q.tx.Get(row); b == nil || err != nil {
		return err
	}
	q.tx.Delete(row)
	q.tx.DeleteOnce(messageKey(q.cfg.ID, p))
	q.kept.messages--
	q.kept.held--
	if q.markDirty(); q.kept.messages == 0 && q.kept.undo == undoNone {
		q.dropKept()
	}
	return nil
}

// restoreKept restores a bounded number of kept messages.
func (q *queue) restoreKept() error {
	for left := q.e.undoAtOnce; left > 0 && q.kept.undoes() && !q.Full(); {
		restore := q.restoreHeld
		if q.kept.undo == undoOthers {
			restore = q.restoreOthers
		}
		n, err := restore(left)
		if err != nil {
			return fmt.Errorf("undo of a purge: %w", err)
		}
		left -= n
		q.markDirty()
	}
	return nil
}

// keptRow is a row of a table that is read before the table changes.
type keptRow struct {
	pos    Position
	record []byte
}

// read reads the first rows of a range of keys, and reports whether there are no others.
func (k *kept) read(lo, hi []byte, most int) (rows []keptRow, all bool, err error) {
	room := k.room()
	all = true
	err = k.tx.Scan(lo, hi, func(key, v []byte) bool {
		if all = len(rows) < most && room > 0; !all {
			return false
		}
		rows = append(rows, keptRow{Position(tail(key, 0)), slices.Clone(v)})
		room -= len(v)
		return true
	})
	return rows, all, err
}

// restoreHeld restores messages that were received, and returns their number.
func (q *queue) restoreHeld(most int) (n int, err error) {
	_, end := (!q.rows).tableRange(q.cfg.ID, tableReceived)
	rows, all, err := q.kept.read((!q.rows).receivedKey(q.cfg.ID, q.kept.at), end, most)
	if err != nil {
		return 0, err
	}
	for _, row := range rows {
		if err := q.restoreReceived(row); err != nil {
			return 0, err
		}
		q.kept.at = row.pos + 1
		q.kept.held--
	}
	if all {
		if q.kept.held != 0 {
			return 0, fmt.Errorf("%d received messages: %w", q.kept.held, errMissing)
		}
		q.kept.undo, q.kept.at = undoOthers, q.kept.waited
	}
	return len(rows), nil
}

// restoreReceived restores a message that was received.
func (q *queue) restoreReceived(row keptRow) error {
	m, group, err := decodeReceived(row.pos, row.record)
	if err != nil {
		return err
	}
	sent, err := q.sentAt(m.pos)
	if err != nil {
		return err
	}
	if m.pos.indexed() {
		m.sent = sent
		if _, err := q.restoreIndexed(m.pos, sent); err != nil {
			return err
		}
	} else {
		q.line.lower(sent)
	}
	if q.cfg.FIFO {
		if err := q.groups.reactivate(group, &q.kept.places); err != nil {
			return err
		}
	}
	q.trackStored(m, group)
	if m.deadline <= q.now {
		q.held.show(m)
	} else {
		q.held.hide(m)
	}
	if m.group != nil {
		q.groups.updateReady(m.group)
	}
	q.held.save(m)
	q.broughtBack(1)
	return nil
}

// broughtBack counts restored messages.
func (q *queue) broughtBack(n uint64) {
	q.stored += n
	q.kept.messages -= n
}

// restoreIndexed restores the age row of an indexed message, and returns when its delay ends.
func (q *queue) restoreIndexed(p Position, sent Instant) (due Instant, err error) {
	q.index.lower(p, sent, q.indexed() == 0)
	if q.cfg.FIFO {
		return sent.Add(q.cfg.Delay), nil
	}
	b, err := q.tx.Get((!q.rows).ageKey(q.cfg.ID, sent, p))
	if err == nil && b == nil {
		err = fmt.Errorf("kept age of %v: %w", p, errMissing)
	}
	if err != nil {
		return 0, err
	}
	due, group, err := decodeAge(b)
	q.index.setAge(p, sent, group, due)
	return due, err
}

// restoreOthers restores messages that were never received, and returns their number.
func (q *queue) restoreOthers(most int) (n int, err error) {
	if q.kept.at < q.kept.line {
		return q.restoreLine(most)
	}
	id := q.cfg.ID
	rows, all, err := q.kept.read(messageKey(id, max(q.kept.at, indexedBit)), messageKey(id, q.kept.indexed+1), most)
	if err != nil {
		return 0, err
	}
	for _, row := range rows {
		if q.kept.at = row.pos + 1; q.held.at[row.pos] != nil {
			continue // already restored
		}
		if err := q.restoreUnreceived(row); err != nil {
			return 0, err
		}
	}
	if all {
		return len(rows), q.endUndo()
	}
	return len(rows), nil
}

// restoreLine restores messages of the line. If no message has joined the line since the purge, it only moves the head
// of the line back.
func (q *queue) restoreLine(most int) (n int, err error) {
	from, end := q.kept.at, q.kept.line
	if q.line.next == end {
		sent, err := q.sentAt(from)
		if err != nil {
			return 0, err
		}
		q.line.lower(sent)
		q.line.head, q.kept.at = from, indexedBit
		q.broughtBack(uint64(end - from))
		return 1, nil
	}
	rows, _, err := q.kept.read(messageKey(q.cfg.ID, from), messageKey(q.cfg.ID, end), most)
	if err != nil {
		return 0, err
	}
	for _, row := range rows {
		if row.pos != q.kept.at {
			break
		}
		if err := q.indexAnew(messageKey(q.cfg.ID, row.pos), row.record); err != nil {
			return 0, err
		}
		q.kept.at++
		q.broughtBack(1)
	}
	if q.kept.at == from {
		return 0, fmt.Errorf("kept message %v: %w", from, errMissing)
	}
	return len(rows), nil
}

// restoreUnreceived restores an indexed message that was never received.
func (q *queue) restoreUnreceived(row keptRow) error {
	sent, group, err := ageOf(row.record)
	if err != nil {
		return err
	}
	due, err := q.restoreIndexed(row.pos, sent)
	if err != nil {
		return err
	}
	waits := false
	if q.kept.delayed > 0 {
		b, err := q.tx.Get((!q.rows).delayKey(q.cfg.ID, q.delays.rowAt(sent, due), row.pos))
		if err != nil {
			return err
		}
		waits = b != nil && due > q.now && q.kept.postpones
	}
	q.broughtBack(1)
	if waits {
		q.delays.floor = min(q.delays.floor, q.delays.rowAt(sent, due))
		q.delays.postpone(row.pos, group, sent, due)
		return nil
	}
	return q.groups.add(group, row.pos, sent)
}

// endUndo ends an undo that has restored all messages.
func (q *queue) endUndo() error {
	if q.kept.messages != 0 {
		return fmt.Errorf("%d kept messages: %w", q.kept.messages, errMissing)
	}
	q.kept.dropRows()
	q.kept.keptRecord = keptRecord{}
	return nil
}

// keptFields reports whether a record has fields that are stored from keptVersion on.
func (m *meta) keptFields() bool {
	return bool(m.rows) || m.mixed || m.kept != (keptRecord{}) || m.forgotten != (forgottenRecord{})
}

// encodeKept appends these fields:
//
//	rows | mixed | forgotten | kept
func (m *meta) encodeKept(w *writer) {
	w.Bool(bool(m.rows))
	w.Bool(m.mixed)
	m.forgotten.encode(w)
	k := &m.kept
	w.Instant(k.since)
	if k.since == 0 {
		return
	}
	for _, n := range []uint64{
		uint64(k.line), uint64(k.waited), uint64(k.indexed), k.messages, k.bytes, k.held, k.delayed, k.places,
		uint64(k.undo), uint64(k.at),
	} {
		w.Uint(n)
	}
	w.Bool(k.postpones)
	k.forgotten.encode(w)
}

func (m *meta) decodeKept(r *reader) {
	m.rows, m.mixed = edition(r.Bool()), r.Bool()
	m.forgotten.decode(r)
	k := &m.kept
	if k.since = r.Instant(); k.since == 0 {
		return
	}
	k.line, k.waited, k.indexed = Position(r.Uint()), Position(r.Uint()), Position(r.Uint())
	k.messages, k.bytes, k.held, k.delayed, k.places = r.Uint(), r.Uint(), r.Uint(), r.Uint(), r.Uint()
	undo := r.Uint()
	k.at, k.postpones = Position(r.Uint()), r.Bool()
	k.forgotten.decode(r)
	if k.undo = undoPhase(undo); undo > uint64(undoOthers) {
		r.Fail()
	}
}

// forgottenRecord limits the deduplication ids and receive attempts that still count: a purge has made the queue forget
// those with numbers up to these.
type forgottenRecord struct {
	sequence uint64
	receipts uint64
	until    Instant // there are no such rows any more; 0: nothing is forgotten
}

func (f *forgottenRecord) encode(w *writer) {
	w.Uint(f.sequence)
	w.Uint(f.receipts)
	w.Instant(f.until)
}

func (f *forgottenRecord) decode(r *reader) {
	f.sequence, f.receipts, f.until = r.Uint(), r.Uint(), r.Instant()
}
