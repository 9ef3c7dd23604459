package queue

import (
	"fmt"

	"github.com/sluicemq/sluice/internal/formats"
)

// extent is a number of copies and their size in bytes.
type extent struct{ copies, bytes int }

// copiesAtOnce limits the copies that a call of Publish makes, and those that each step of the backlog makes. A copy
// may also write the row of its queue's last minute, which takes a few KiB.
var copiesAtOnce = extent{copies: workAtOnce / 4, bytes: 512 << 10}

// backlogMost limits the bytes of the waiting copies. Publications are accepted faster than their copies are made, so
// publishers have to wait at some point.
const backlogMost = 64 << 20

// AtOnce reports whether all copies of some publications are made by the call of Publish.
func AtOnce(publications []Publication) bool {
	room := copiesAtOnce
	for i := range publications {
		if !room.take(&publications[i]) {
			return false
		}
	}
	return true
}

// take subtracts the copies of a publication from the extent, and reports whether it was sufficient.
func (x *extent) take(p *Publication) bool {
	left := *x
	for i := range p.Copies {
		left.takeCopy(&p.Copies[i])
	}
	if left.copies < 0 || left.bytes < 0 {
		return false
	}
	*x = left
	return true
}

func (x *extent) takeCopy(c *Copy) {
	x.copies--
	x.bytes -= c.size()
}

// left reports whether there is room for another copy of any size.
func (x *extent) left() bool { return x.copies > 0 && x.bytes > 0 }

// backlog holds the publications with too many or too large copies for one commit. Each is stored once, and later
// transactions make its copies, in order. The backlog is durable, so every queue gets its copy.
//
// A publication to a FIFO topic waits behind earlier publications of the topic in the backlog.
type backlog struct {
	*transaction
	backlogRecord
	atOnce extent // see copiesAtOnce
	send   func(*expansion, *Copy) error

	topics map[ID]int    // waiting publications of each FIFO topic
	copies map[ID]uint64 // waiting copies for each queue
	bytes  int           // of all waiting copies
	first  *expansion    // the publication with the number head, once read
	dirty  bool          // the record must be written
}

// backlogRecord is the part of the backlog's state that is stored.
type backlogRecord struct {
	head uint64 // number of the first publication
	end  uint64 // number of the next publication to arrive
	next uint64 // number of the next copy of the first publication
}

func (b *backlogRecord) encode() []byte {
	w := newRecord(16)
	w.Uint(b.head)
	w.Uint(b.end)
	w.Uint(b.next)
	return w.Writer
}

func (b *backlogRecord) decode(v []byte) error {
	r := readRecord(v)
	*b = backlogRecord{head: r.Uint(), end: r.Uint(), next: r.Uint()}
	if b.head > b.end {
		r.Fail()
	}
	return r.done("backlog of publications")
}

func newBacklog(t *transaction, send func(*expansion, *Copy) error) backlog {
	return backlog{
		transaction: t, atOnce: copiesAtOnce, send: send, topics: make(map[ID]int), copies: make(map[ID]uint64),
	}
}

// load reads the record of the backlog, and counts its publications.
func (b *backlog) load() error {
	v, err := b.tx.Get(backlogKey)
	if v == nil || err != nil {
		return err
	}
	if err := b.decode(v); err != nil {
		return err
	}
	b.needs(formats.Topics)
	for n := b.head; n < b.end; n++ {
		x, err := b.read(n)
		if err != nil {
			return err
		}
		if b.done(n) > uint64(len(x.Copies)) {
			return fmt.Errorf("%w: %d copies of a publication are made, of %d", ErrDamaged, b.done(n), len(x.Copies))
		}
		b.count(x.Publication, b.done(n))
	}
	return nil
}

// count adds a publication to the counters. Its first copies are already made.
func (b *backlog) count(p *Publication, done uint64) {
	b.topics[p.Topic]++
	for i := done; i < uint64(len(p.Copies)); i++ {
		b.copies[p.Copies[i].Queue]++
		b.bytes += p.Copies[i].size()
	}
}

// refuses reports whether the backlog has no room for publications that do not fit into one commit.
func (b *backlog) refuses(publications []Publication) bool {
	if b.bytes < backlogMost {
		return false
	}
	room := b.atOnce
	for i := range publications {
		if p := &publications[i]; b.holds(p.Topic) || !room.take(p) {
			return true
		}
	}
	return false
}

// done returns how many copies of publication n are made.
func (b *backlog) done(n uint64) uint64 {
	if n == b.head {
		return b.next
	}
	return 0
}

// waiting reports whether there are publications.
func (b *backlog) waiting() bool { return b.head < b.end }

// holds reports whether publications of a FIFO topic wait.
func (b *backlog) holds(topic ID) bool { return topic != 0 && b.topics[topic] > 0 }

// add stores a publication behind the others.
func (b *backlog) add(x *expansion) {
	b.tx.Set(publicationKey(b.end), encodeBacklogged(x))
	b.end++
	b.count(x.Publication, 0)
	b.needs(formats.Topics)
	for i := range x.Copies {
		b.needsFor(x.Copies[i].Message.Attributes)
	}
	b.dirty = true
}

// expand makes some of the copies that wait.
func (b *backlog) expand() error {
	for room := b.atOnce; room.left() && b.waiting() && !b.Full(); b.dirty = true {
		if b.first == nil {
			x, err := b.read(b.head)
			if err != nil {
				return err
			}
			b.first = x
		}
		for ; b.next < uint64(len(b.first.Copies)) && room.left() && !b.Full(); b.next++ {
			c := &b.first.Copies[b.next]
			room.takeCopy(c)
			b.uncount(c)
			if err := b.send(b.first, c); err != nil {
				return err
			}
		}
		if b.next == uint64(len(b.first.Copies)) {
			b.drop()
		}
	}
	return nil
}

// uncount subtracts a copy that no longer waits.
func (b *backlog) uncount(c *Copy) {
	if b.copies[c.Queue]--; b.copies[c.Queue] == 0 {
		delete(b.copies, c.Queue)
	}
	b.bytes -= c.size()
}

// drop removes the first publication.
func (b *backlog) drop() {
	b.tx.Delete(publicationKey(b.head))
	if b.topics[b.first.Topic]--; b.topics[b.first.Topic] == 0 {
		delete(b.topics, b.first.Topic)
	}
	b.head++
	b.next, b.first = 0, nil
}

func (b *backlog) read(n uint64) (*expansion, error) {
	v, err := b.tx.Get(publicationKey(n))
	if err == nil && v == nil {
		err = errMissing
	}
	if err != nil {
		return nil, fmt.Errorf("publication %d of the backlog: %w", n, err)
	}
	return decodeBacklogged(v)
}

// save writes the record if it is dirty.
func (b *backlog) save() (wrote bool) {
	if wrote = b.dirty; wrote {
		b.tx.Set(backlogKey, b.backlogRecord.encode())
		b.dirty = false
	}
	return wrote
}

// encodeBacklogged returns the record of a publication in the backlog.
//
//	version | sequence number | record of the publication
func encodeBacklogged(x *expansion) []byte {
	p := x.Encode()
	w := newRecord(16 + len(p))
	w.Uint(x.sequence)
	w.Raw(p)
	return w.Writer
}

func decodeBacklogged(v []byte) (*expansion, error) {
	r := readRecord(v)
	x := &expansion{sequence: r.Uint()}
	rest := r.Raw(uint64(r.Left()))
	if err := r.done("publication of the backlog"); err != nil {
		return nil, err
	}
	var err error
	x.Publication, err = DecodePublication(rest)
	return x, err
}
