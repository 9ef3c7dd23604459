package queue

// meta is a queue's record: the stored state of its parts besides their tables.
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

// metaVersion is the version of a queue's record that has counting, and sizedVersion of one that has also the sizes of
// the messages of the running minute. Without them the record is of a version that older programs can read.
const (
	metaVersion  = 2
	sizedVersion = 3
)

// encode returns the record, in buf if it has room:
//
//	version | line | index.last | rota | stored | delays.count | receipts | delays.floor
//	| index.floor | index.head | purged | dedup
//	and, from metaVersion on: what counting.encode writes
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
	if m.counting != (counting{}) {
		w.Writer[0] = metaVersion
		if m.counting.sizes != nil {
			w.Writer[0] = sizedVersion
		}
		m.counting.encode(&w)
	}
	return w.Writer
}

func (m *meta) decode(b []byte) error {
	r := readRecordUpTo(sizedVersion, b)
	*m = meta{line: lineRecord{Position(r.Uint()), Position(r.Uint()), r.Instant()}}
	m.index.last = Position(r.Uint())
	m.rota = rotaRecord{r.Uint(), r.Uint(), r.Uint()}
	m.stored, m.delays.count, m.held.receipts = r.Uint(), r.Uint(), r.Uint()
	m.delays.floor, m.index.floor, m.index.head = r.Instant(), r.Instant(), Position(r.Uint())
	m.purged = r.Instant()
	m.dedup = dedupRecord{r.Uint(), r.Uint()}
	if !r.Failed() && b[0] >= metaVersion {
		m.counting.decode(r, b[0] == sizedVersion)
	}
	return r.done("queue")
}

// record returns the queue's record in its stored form.
func (q *queue) record() meta {
	return meta{
		line: q.line.lineRecord, index: q.index.indexRecord, rota: q.rota.rotaRecord,
		held: q.held.heldRecord, delays: q.delays.delaysRecord, dedup: q.dedup.dedupRecord,
		stored: q.stored, purged: q.purged, counting: q.tally.counting,
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
	return nil
}
