package queue

import "fmt"

// away is a queue that another shard serves. What is redriven or moved there
// waits here, in order of arrival, until it has arrived: it leaves its source
// and joins this line in one transaction, so that it is in one place at any
// time, and is told from what comes after it by its position.
//
// A queue that is served here has such a line as well, if it was away before or
// if other shards serve other message groups of it.
//
// Nothing is received from here and nothing expires: what is too old when it
// arrives expires there. Of a queue for which nothing has come there is no
// record, and nothing in memory but what follows.
type away struct {
	e    *Engine
	id   ID
	arn  string
	fifo bool
	awayRecord

	changed bool // the record must be written
}

// awayRecord is the part of an away queue's state that is stored.
type awayRecord struct {
	head   Position // nothing that is stored is before it
	last   Position // the newest, 0 if there never was one
	stored uint64
}

func (a *awayRecord) encode() []byte {
	w := newRecord(24)
	w.uint(uint64(a.head))
	w.uint(uint64(a.last))
	w.uint(a.stored)
	return w
}

func (a *awayRecord) decode(b []byte) error {
	r := readRecord(b)
	*a = awayRecord{head: Position(r.uint()), last: Position(r.uint()), stored: r.uint()}
	return r.done("away queue")
}

// destination is where a message of this shard can be redriven or moved to.
type destination interface {
	isFIFO() bool
	queueID() ID
	// admit takes m in, available from due.
	admit(m *Message, due Instant) error
}

func (q *queue) isFIFO() bool { return q.cfg.FIFO }
func (a *away) isFIFO() bool  { return a.fifo }
func (q *queue) queueID() ID  { return q.cfg.ID }
func (a *away) queueID() ID   { return a.id }

// awayPosition is the least position that a message gets at an instant. Being
// taken from the clock, positions grow even if the shard is brought back from
// a backup: its destinations take what has a position that they have seen for
// what they have.
func awayPosition(now Instant) Position {
	const bits = 16 // for the messages of one millisecond; if there are more, the next lend theirs
	return Position(now) << bits
}

// admit puts m at the end of the line. A delay is its queue's business.
func (a *away) admit(m *Message, _ Instant) error {
	a.last = max(a.last+1, awayPosition(a.e.now))
	if a.stored == 0 {
		a.head = a.last
		a.e.departing = append(a.e.departing, a.id)
	}
	a.stored++
	a.e.record = m.encode(a.e.record)
	a.e.tx.Set(departureKey(a.id, a.last), a.e.record)
	a.change()
	return nil
}

func (a *away) change() {
	if !a.changed {
		a.changed = true
		a.e.changed = append(a.e.changed, a)
	}
}

// save writes the record if it must be.
func (a *away) save() (wrote bool) {
	if wrote = a.changed; wrote {
		a.e.tx.Set(awayKey(a.id), a.awayRecord.encode())
		a.changed = false
	}
	return wrote
}

// purge drops what waits. Positions go on from where they were.
func (a *away) purge() {
	if a.stored == 0 {
		return
	}
	a.e.tx.DeleteRange(tableRange(a.id, tableDeparture))
	a.head, a.stored = a.last+1, 0
	a.change()
}

// destination returns where messages of a group go that are redriven or moved to
// a queue, or nil if there is no such queue.
func (e *Engine) destination(arn, group string) destination {
	d := e.byARN[arn]
	q, served := d.(*queue)
	if !served || q.cfg.serves(group) {
		return d
	}
	if e.away[q.cfg.ID] == nil {
		e.away[q.cfg.ID] = q.line()
	}
	return e.away[q.cfg.ID]
}

// line returns an empty line of what is on its way from a queue that is served
// here to other shards.
func (q *queue) line() *away { return &away{e: q.e, id: q.cfg.ID, arn: q.cfg.ARN, fifo: q.cfg.FIFO} }

// addAway takes note of a queue that another shard serves.
func (e *Engine) addAway(cfg Config) {
	a := &away{e: e, id: cfg.ID, arn: cfg.ARN, fifo: cfg.FIFO}
	e.away[cfg.ID] = a
	e.byARN[cfg.ARN] = a
}

// dropAway removes an away queue, or a line, and what waits in it.
func (e *Engine) dropAway(a *away) {
	if a.last != 0 {
		e.tx.DeleteRange(queueRange(a.id))
	}
	delete(e.away, a.id)
	if e.byARN[a.arn] == destination(a) {
		delete(e.byARN, a.arn)
	}
	a.changed = false
}

// loadLine loads the line of a queue that is served here, if it has one.
func (q *queue) loadLine() error {
	b, err := q.e.tx.Get(awayKey(q.cfg.ID))
	if b == nil || err != nil {
		return err
	}
	a := q.line()
	q.e.away[a.id] = a
	return a.load()
}

// load reads the record of an away queue, of which something is stored.
func (a *away) load() error {
	b, err := a.e.tx.Get(awayKey(a.id))
	if err != nil {
		return err
	}
	if b == nil {
		b, err = a.e.tx.Get(metaKey(a.id))
		if err == nil && b != nil {
			return ErrElsewhere
		}
		return firstError(err, fmt.Errorf("the away queue's own: %w", errMissing))
	}
	if err := a.decode(b); err != nil || a.stored == 0 {
		return err
	}
	a.e.departing = append(a.e.departing, a.id)
	found := false
	_, end := tableRange(a.id, tableDeparture)
	err = a.e.tx.Scan(departureKey(a.id, a.head), end, func(_, _ []byte) bool { found = true; return false })
	if err == nil && !found {
		err = fmt.Errorf("departing messages: %w", errMissing)
	}
	return err
}
