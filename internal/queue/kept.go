package queue

import (
	"fmt"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/formats"
)

// UndoInterval is how long a purge can be undone.
const UndoInterval = 10 * time.Minute

// A purge that can be undone removes no message. It draws a line behind the positions that were given out, and
// everything in front of it is kept: out of reach of all that looks for messages from the heads of the queue on. Rows
// that are not in order of position cannot be cut like that: those of received messages, delays and ages stay in
// their tables, and the queue goes on in the other edition of these. Groups and their places follow from the messages.
//
//	before    m: ●●●●●●●●●           s, d, e: rows          queue: rows, heads, counters
//	purged    m: ○○○○○○○○○│          s, d, e: kept rows     S, D, E: empty
//	later     m: ○○○○○○○○○│●●        s, d, e: kept rows     S, D, E: rows of what has come since
//	undone    m: ●●●●●●●●●│●●        s, d, e: dropped       S, D, E: rows of both
//
// Time, another purge, or a lack of disk space drops what is kept, with a few range deletions. An undo brings it back,
// a bounded number of messages in each transaction: first those that were received, then the others.
//
//   - A message comes back to its own position: with its id, its sequence number, its receives and its receipts. In
//     a group it stands in front of what was sent since, as if there had been no purge. A message of the line that was
//     never received becomes an indexed one, unless nothing has joined the line since.
//   - A kept message that its consumer deletes is gone, because the consumer got that answer.
//   - While a FIFO queue gets its messages back, nothing is received from it: the first message of a group may be on
//     its way.
//   - Copies in the backlog, and messages in the outboxes of other shards, are not kept.
type kept struct {
	*base
	keptRecord
}

// undoPhase is how far an undo has come. Its numbers are stored.
type undoPhase uint8

const (
	undoNone   undoPhase = iota // what is kept stays so
	undoHeld                    // messages that were received come back, in order of position
	undoOthers                  // the others do
)

// keptRecord is the stored state of what is kept.
type keptRecord struct {
	since    Instant  // the time of the purge; 0: nothing is kept
	line     Position // kept messages of the line are in front of it
	waited   Position // and were never received from here on
	indexed  Position // no kept message that is indexed is behind it
	messages uint64   // that are kept
	bytes    uint64   // of the messages when the queue was purged, as far as they were known; see Purging
	held     uint64   // of these, received
	delayed  uint64   // of these, waiting for their delay to end
	places   uint64   // in the rota, up to this one, that no group has
	// forgotten is what the deduplication had forgotten before the purge.
	forgotten forgottenRecord
	undo      undoPhase
	at        Position // where the undo goes on in its phase
	postpones bool     // FIFO: the undo may make messages wait for the rest of their delay
}

// Kept is what the last purge of a queue has removed and can be brought back.
type Kept struct {
	Since    Instant // when the queue was purged; 0: nothing is kept
	Until    Instant // the purge can be undone before
	Messages uint64  // that are kept
	Bytes    uint64  // that they take, about; 0 if that is not known
	Undoing  bool    // they are coming back, in further transactions
}

// KeepPurged sets whether purges keep what they remove. They do not before every program can read it; see Allow. An
// engine that was just loaded keeps nothing.
func (e *Engine) KeepPurged(keep bool) { e.keepPurged = keep }

// keepsPurged reports whether purges keep what they remove.
func (e *Engine) keepsPurged() bool { return e.keepPurged && (e.reads == 0 || e.reads >= formats.Kept) }

// ForgetPurged drops what purges have kept, except what is coming back.
func (e *Engine) ForgetPurged() {
	for _, q := range e.queues {
		if q.kept.undo == undoNone {
			q.dropKept()
		}
	}
}

// Kept returns what the last purge of a queue has kept.
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

// UndoPurge begins to bring back what the last purge of a queue has kept, and returns what that is. It gives
// ErrNothingKept if there is nothing, ErrTaskRunning while a task moves messages of the queue, because the task has
// counted them, and ErrOverLimit if more messages would be in flight or received than the queue may have. An undo in
// progress just goes on.
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
	q.dedup.forgottenRecord = q.kept.forgotten
	q.kept.undo, q.kept.at = undoHeld, 0
	q.kept.postpones = !q.cfg.FIFO || q.stored == q.delays.count
	q.groups.mixed = q.cfg.FIFO
	q.markDirty()
	err = q.restoreKept()
	what.Undoing = q.kept.undoes()
	return what, err
}

// MayUndoPurge returns the refusal that UndoPurge would give now, and brings back nothing.
func (e *Engine) MayUndoPurge(id ID) error {
	q, err := e.queueAtPresent(id)
	if err != nil {
		return err
	}
	return q.mayUndo()
}

// mayUndo returns the reason why an undo cannot begin or go on, or nil.
func (q *queue) mayUndo() error {
	switch {
	case q.kept.since == 0:
		return ErrNothingKept
	case q.kept.undoes():
		return nil
	case q.moves.running() != nil:
		return ErrTaskRunning
	case q.kept.held > 0 && uint64(len(q.held.at))+q.kept.held > uint64(q.cfg.maxInFlight()):
		return ErrOverLimit
	}
	return nil
}

// keepAll makes the queue empty and keeps what was in it. bytes is what that takes, or 0.
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

// dropKept removes what is kept.
func (q *queue) dropKept() {
	if q.kept.since == 0 {
		return
	}
	id := q.cfg.ID
	q.tx.DeleteRange(messageKey(id, 0), messageKey(id, q.kept.line))
	q.tx.DeleteRange(messageKey(id, indexedBit), messageKey(id, q.kept.indexed+1))
	q.kept.dropRows()
	q.kept.keptRecord = keptRecord{}
	q.markDirty()
}

// dropRows removes the kept rows.
func (k *kept) dropRows() {
	for _, table := range editions {
		k.tx.DeleteRange((!k.rows).tableRange(k.cfg.ID, table))
	}
}

// wakeAt returns when time alone changes what is kept, or never.
func (k *kept) wakeAt() Instant {
	switch {
	case k.since == 0:
		return never
	case k.undo != undoNone:
		return k.now
	}
	return k.since.Add(UndoInterval)
}

// advanceKept goes on with an undo, or drops what can no longer be brought back.
func (q *queue) advanceKept() error {
	switch {
	case q.kept.since == 0:
		return nil
	case q.kept.undo != undoNone:
		return q.restoreKept()
	case q.now >= q.kept.since.Add(UndoInterval):
		q.dropKept()
	}
	return nil
}

// undoes reports whether an undo is in progress.
func (k *keptRecord) undoes() bool { return k.undo != undoNone }

// arriving returns how many received messages an undo in progress has still to bring back.
func (k *keptRecord) arriving() int {
	if k.undo != undoHeld {
		return 0
	}
	return int(k.held)
}

// within reports whether p is in front of where the purge has drawn the line.
func (k *keptRecord) within(p Position) bool {
	if p.indexed() {
		return p <= k.indexed
	}
	return p < k.line
}

// hides reports whether a message at p is kept that no row of the queue says is received.
func (k *keptRecord) hides(p Position) bool {
	return k.since != 0 && k.within(p) && (k.undo != undoOthers || p >= k.at)
}

// hidesReceived reports whether a message at p that was received may be kept.
func (k *keptRecord) hidesReceived(p Position) bool {
	return k.since != 0 && k.within(p) && (k.undo == undoNone || k.undo == undoHeld && p >= k.at)
}

// deleteKept removes a kept message that a consumer deletes, which was received.
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

// restoreKept brings back a bounded number of kept messages.
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

// restoreHeld brings back messages that were received, and returns how many.
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

// restoreReceived brings back a message that was received.
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

// broughtBack counts messages that are the queue's again.
func (q *queue) broughtBack(n uint64) {
	q.stored += n
	q.kept.messages -= n
}

// restoreIndexed gives an indexed message its place in the order of age again, and returns when its delay ends.
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

// restoreOthers brings back messages that were never received, and returns how many.
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
			continue // it has come back
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

// restoreLine brings back messages of the line. If nothing has joined the line since, they just stand in it again.
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

// restoreUnreceived brings back an indexed message that was never received.
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

// endUndo ends an undo that has brought back all messages.
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

// forgottenRecord says which deduplication ids and receive attempts a purge has made the queue forget: those with at
// most these numbers.
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
