package queue

// meta is a queue's record: the stored state of its parts outside their tables.
type meta struct {
	line     lineRecord
	index    indexRecord
	rota     rotaRecord
	held     heldRecord
	delays   delaysRecord
	dedup    dedupRecord
	stored   uint64 // messages in the queue, in all states
	purged   Instant
	counting // not in records of older programs

	// Records from keptVersion on also have the following fields.
	rows      edition
	mixed     bool // see groups
	forgotten forgottenRecord
	kept      keptRecord
}

// lineRecord is the stored state of a line.
type lineRecord struct {
	head  Position // the line is [head, next)
	next  Position
	floor Instant // no stored message of the line was sent before
}

// indexRecord is the stored state of an index.
type indexRecord struct {
	last  Position // the newest indexed position, without its bit
	floor Instant  // no stored indexed message was sent before
	head  Position // FIFO: no stored message is before
}

// rotaRecord is the stored state of a rota.
type rotaRecord struct {
	last   uint64 // the newest place
	head   uint64 // no place before it is taken
	length uint64
}

// heldRecord is the stored state of the held messages.
type heldRecord struct {
	receipts uint64 // the number of the newest receive
}

// delaysRecord is the stored state of delays.
type delaysRecord struct {
	count uint64  // messages that wait for their delay to end
	floor Instant // no row is under an earlier instant
}

// dedupRecord is the stored state of the deduplication ids.
type dedupRecord struct {
	low  uint64 // buckets before it are empty
	high uint64 // buckets after it are empty; 0: all are
}

// The versions of a queue's record. A record has recordVersion, which the oldest programs can read, or the first of
// these versions that has all fields that it needs.
const (
	metaVersion      = 2 // has counting
	sizedVersion     = 3 // has also the sizes of the messages of the running minute
	keptVersion      = 4 // has counting without sizes, and the fields of a purge that can be undone
	keptSizedVersion = 5 // has all of these
)

// withSizes reports whether records of a version have sizes.
func withSizes(version byte) bool { return version == sizedVersion || version == keptSizedVersion }

// encode returns the record, in buf if it has room:
//
//	version | line | index.last | rota | stored | delays.count | receipts | delays.floor
//	| index.floor | index.head | purged | dedup
//	and, from metaVersion on: what counting.encode writes
//	from keptVersion on, also: what encodeKept writes
func (m *meta) encode(buf []byte) []byte {
	w := beginRecord(buf)
	w.Uint(uint64(m.line.head))
	w.Uint(uint64(m.line.next))
	w.Instant(m.line.floor)
	w.Uint(uint64(m.index.last))
	w.Uint(m.rota.last)
	w.Uint(m.rota.head)
	w.Uint(m.rota.length)
	w.Uint(m.stored)
	w.Uint(m.delays.count)
	w.Uint(m.held.receipts)
	w.Instant(m.delays.floor)
	w.Instant(m.index.floor)
	w.Uint(uint64(m.index.head))
	w.Instant(m.purged)
	w.Uint(m.dedup.low)
	w.Uint(m.dedup.high)
	kept, sizes := m.keptFields(), m.counting.sizes != nil
	switch {
	case kept && sizes:
		w.Writer[0] = keptSizedVersion
	case kept:
		w.Writer[0] = keptVersion
	case sizes:
		w.Writer[0] = sizedVersion
	case m.counting != (counting{}):
		w.Writer[0] = metaVersion
	default:
		return w.Writer
	}
	m.counting.encode(&w)
	if kept {
		m.encodeKept(&w)
	}
	return w.Writer
}

func (m *meta) decode(b []byte) error {
	r := readRecordUpTo(keptSizedVersion, b)
	*m = meta{line: lineRecord{Position(r.Uint()), Position(r.Uint()), r.Instant()}}
	m.index.last = Position(r.Uint())
	m.rota = rotaRecord{r.Uint(), r.Uint(), r.Uint()}
	m.stored, m.delays.count, m.held.receipts = r.Uint(), r.Uint(), r.Uint()
	m.delays.floor, m.index.floor, m.index.head = r.Instant(), r.Instant(), Position(r.Uint())
	m.purged = r.Instant()
	m.dedup = dedupRecord{r.Uint(), r.Uint()}
	if !r.Failed() && b[0] >= metaVersion {
		m.counting.decode(r, withSizes(b[0]))
	}
	if !r.Failed() && b[0] >= keptVersion {
		m.decodeKept(r)
	}
	return r.done("queue")
}

// record returns the queue's record in its stored form.
func (q *queue) record() meta {
	return meta{
		line: q.line.lineRecord, index: q.index.indexRecord, rota: q.rota.rotaRecord,
		held: q.held.heldRecord, delays: q.delays.delaysRecord, dedup: q.dedup.dedupRecord,
		stored: q.stored, purged: q.purged, counting: q.tally.counting,
		rows: q.rows, mixed: q.groups.mixed, forgotten: q.dedup.forgottenRecord, kept: q.kept.keptRecord,
	}
}

// restore sets the parts of the queue from its record.
func (q *queue) restore(record []byte) error {
	var m meta
	if err := m.decode(record); err != nil {
		return err
	}
	q.line.lineRecord, q.index.indexRecord, q.rota.rotaRecord = m.line, m.index, m.rota
	q.held.heldRecord, q.delays.delaysRecord, q.dedup.dedupRecord = m.held, m.delays, m.dedup
	q.stored, q.purged, q.tally.counting = m.stored, m.purged, m.counting
	q.rows, q.groups.mixed, q.dedup.forgottenRecord, q.kept.keptRecord = m.rows, m.mixed, m.forgotten, m.kept
	return nil
}
