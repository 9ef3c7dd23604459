package queue

import (
	"fmt"
	"strings"

	"github.com/sluicemq/sluice/internal/search"
)

// States is a set of states of messages.
type States uint8

// The states. A message that was received and is visible again is visible, also if it is in a FIFO group of which another
// message is in flight.
const (
	StateVisible States = 1 << iota
	StateInFlight
	StateDelayed
	AllStates = StateVisible | StateInFlight | StateDelayed
)

// Peek asks what is in a queue, without a receive.
type Peek struct {
	States States
	Filter string      // see package search
	IDs    []MessageID // that are looked for; none: all
	After  PeekCursor
	Max    int  // messages to return at most
	Bodies bool // return their bodies, too
}

// PeekCursor says how far a look has come. The zero cursor is the beginning. The engine does not use Shard; it says where
// to go on if the queue is on several.
type PeekCursor struct {
	Shard    int
	phase    peekPhase
	due      Instant
	position Position
}

// Peeked is a message as it was found.
type Peeked struct {
	Message  // without its body, unless Peek.Bodies
	Position Position
	State    States
	Size     int    // of the whole message, see Message.Size
	Receives uint64 // of this queue
	First    Instant
	Last     Instant // of the receives; 0: there were none
	Until    Instant // in flight: the end of its visibility timeout; delayed: of its delay
}

// PeekResult is what a look has found.
type PeekResult struct {
	Messages []Peeked
	Scanned  uint64     // messages in the states that were asked for, found or not
	More     bool       // the look has not come to the end
	Next     PeekCursor // where to go on if so
}

// Look is what has to be known of a queue to look through what is stored of it, outside the goroutine that owns the engine.
type Look struct {
	queue     ID
	arn       string
	fifo      bool
	delay     Instant // how long a FIFO queue delays
	retention Instant
	now       Instant
}

// Look begins to look into a queue. It changes nothing.
func (e *Engine) Look(id ID) (Look, error) {
	q := e.queues[id]
	if q == nil {
		return Look{}, ErrNoQueue
	}
	return Look{
		queue: id, arn: q.cfg.ARN, fifo: q.cfg.FIFO, delay: Instant(q.cfg.Delay.Milliseconds()), retention: Instant(q.cfg.Retention.Milliseconds()), now: e.now,
	}, nil
}

// Account returns the account that the queue belongs to.
func (l *Look) Account() string { return accountOf(l.arn) }

// accountOf returns the account in an ARN; empty if it has none.
func accountOf(arn string) string {
	for range 4 { // arn, the partition, the service and the region
		_, arn, _ = strings.Cut(arn, ":")
	}
	account, _, found := strings.Cut(arn, ":")
	if !found {
		return ""
	}
	return account
}

// A look goes through what is stored in phases, each in the order of one table:
//
//	held      messages of the line that were received
//	line      those that were not
//	indexed   all others; of a FIFO queue all there are, in order
//
// If visible messages are not wanted it reads two short tables only: all that were received, and those that are delayed. A
// message that is received or returned between two calls with a cursor may be missed or seen twice.
type peekPhase uint8

const (
	peekHeld peekPhase = iota
	peekLine
	peekIndexed
	peekReceived
	peekDelayed
	peekEnd
)

// Peek looks through a queue as r has it stored, which must not change meanwhile. It ends when it has found enough, and
// when proceed, which is called with the bytes of every message that was looked at, returns false. A message that has
// expired is not there.
func (l Look) Peek(r Reader, p *Peek, proceed func(bytes int) bool) (PeekResult, error) {
	query, err := search.Parse(p.Filter)
	if err != nil {
		return PeekResult{}, err
	}
	s := &peeking{Look: l, r: r, peek: p, query: query, wanted: wantedIDs(p.IDs), proceed: proceed}
	b, err := r.Get(metaKey(l.queue))
	if err == nil && b != nil {
		err = s.meta.decode(b)
	}
	if b == nil || err != nil { // nothing was ever written to the queue
		return PeekResult{}, l.failed(err)
	}
	first, last := peekHeld, peekIndexed
	if p.States&StateVisible == 0 {
		first, last = peekReceived, peekDelayed
	}
	cursor := p.After
	if cursor.phase < first {
		cursor = PeekCursor{Shard: cursor.Shard, phase: first}
	}
	for s.at = cursor; s.at.phase <= last && !s.result.More && s.err == nil; {
		if err := s.scan(s.at); err != nil {
			return PeekResult{}, l.failed(err)
		}
		if !s.result.More {
			s.at = PeekCursor{Shard: s.at.Shard, phase: s.at.phase + 1}
		}
	}
	if s.result.More {
		s.result.Next = s.at
	}
	return s.result, l.failed(s.err)
}

func (l *Look) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("look into queue %d: %w", l.queue, err)
}

// peeking is a look under way.
type peeking struct {
	Look
	r       Reader
	peek    *Peek
	query   *search.Query
	wanted  map[MessageID]bool // nil: all
	proceed func(bytes int) bool
	meta    meta
	at      PeekCursor // what was looked at last
	held    heldAhead
	item    itemReader
	bytes   int // of the bodies found
	result  PeekResult
	err     error
}

// peekBytes is how many bytes of messages a look returns, unless a single one is larger.
const peekBytes = 4 << 20

// scan goes on with a phase behind a cursor.
func (s *peeking) scan(after PeekCursor) error {
	q, next := s.queue, after.position+1
	switch after.phase {
	case peekHeld:
		return s.scanReceived(next, indexedBit)
	case peekLine:
		next = max(next, s.meta.line.head)
		return s.scanMessages(messageKey(q, next), messageKey(q, max(next, s.meta.line.next)), s.neverReceived)
	case peekIndexed:
		next = max(next, s.meta.index.head, indexedBit)
		_, end := tableRange(q, tableMessage)
		s.held = heldAhead{r: s.r, queue: q, next: next}
		return s.scanMessages(messageKey(q, next), end, s.ofIndexed)
	case peekReceived:
		if s.peek.States&StateInFlight == 0 {
			return nil
		}
		return s.scanReceived(next, ^Position(0))
	case peekDelayed:
		if s.peek.States&StateDelayed == 0 || s.meta.delays.count == 0 {
			return nil
		}
		due := after.due
		if due < s.meta.delays.floor {
			due, next = s.meta.delays.floor, 0
		}
		_, end := tableRange(q, tableDelay)
		return s.scanDelayed(delayKey(q, due, next), end)
	}
	return nil
}

// scanMessages looks at stored messages.
func (s *peeking) scanMessages(lo, hi []byte, stateOf func(p Position, value []byte) (peekedState, error)) error {
	return s.r.Scan(lo, hi, func(k, v []byte) bool {
		p := Position(tail(k, 0))
		return s.step(0, p, len(v), func() error {
			st, err := stateOf(p, v)
			if err != nil {
				return err
			}
			return s.lookAt(p, v, &st)
		})
	})
}

func (s *peeking) scanReceived(from, to Position) error {
	return s.r.Scan(receivedKey(s.queue, from), receivedKey(s.queue, to), func(k, v []byte) bool {
		p := Position(tail(k, 0))
		return s.step(0, p, len(v), func() error {
			m, _, err := decodeReceived(p, v)
			if err != nil {
				return err
			}
			return s.lookAtStored(p, &peekedState{state: s.stateOf(m), received: m})
		})
	})
}

func (s *peeking) scanDelayed(lo, hi []byte) error {
	return s.r.Scan(lo, hi, func(k, v []byte) bool {
		at, p := Instant(tail(k, 1)), Position(tail(k, 0))
		return s.step(at, p, len(v), func() error {
			due := at
			if s.fifo {
				due = at + s.delay
			}
			if due <= s.now {
				return nil
			}
			return s.lookAtStored(p, &peekedState{state: StateDelayed, until: due})
		})
	})
}

// step looks at the message at p, and reports whether the look goes on.
func (s *peeking) step(due Instant, p Position, bytes int, look func() error) bool {
	if len(s.result.Messages) >= s.peek.Max || s.bytes > peekBytes {
		s.result.More = true
		return false
	}
	if s.err = look(); s.err != nil {
		return false
	}
	s.at.due, s.at.position = due, p
	if !s.proceed(bytes) {
		s.result.More = true
		return false
	}
	return true
}

// peekedState is what the tables say about a message beside its record.
type peekedState struct {
	state    States
	received *received // nil: it was not received
	until    Instant
}

func (s *peeking) stateOf(m *received) States {
	if m.deadline > s.now {
		return StateInFlight
	}
	return StateVisible
}

// neverReceived is the state of the messages of the line that are left when those that were received are not counted.
func (s *peeking) neverReceived(Position, []byte) (peekedState, error) {
	return peekedState{state: StateVisible}, nil
}

// ofIndexed returns the state of an indexed message.
func (s *peeking) ofIndexed(p Position, value []byte) (peekedState, error) {
	m, err := s.held.find(p)
	if err != nil {
		return peekedState{}, err
	}
	if m != nil {
		return peekedState{state: s.stateOf(m), received: m}, nil
	}
	due, err := s.dueOf(p, value)
	if due > s.now {
		return peekedState{state: StateDelayed, until: due}, err
	}
	return peekedState{state: StateVisible}, err
}

// dueOf returns when the delay of an indexed message ends that was not received, or an instant that is over.
func (s *peeking) dueOf(p Position, value []byte) (Instant, error) {
	if s.meta.delays.count == 0 {
		return 0, nil
	}
	sent, err := sentAt(value)
	if err != nil {
		return 0, err
	}
	if s.fifo {
		if sent+s.delay <= s.now {
			return 0, nil
		}
		b, err := s.r.Get(delayKey(s.queue, sent, p))
		if b == nil {
			return 0, err
		}
		return sent + s.delay, err
	}
	b, err := s.r.Get(ageKey(s.queue, sent, p))
	if err != nil || b == nil {
		return 0, firstError(err, errMissing)
	}
	r := readRecord(b)
	due := r.Instant()
	_ = r.String()
	return due, r.done("message age")
}

// lookAtStored looks at a message whose record is still to be read.
func (s *peeking) lookAtStored(p Position, st *peekedState) error {
	if s.peek.States&st.state == 0 {
		return nil
	}
	value, err := s.r.Get(messageKey(s.queue, p))
	if err == nil && value == nil {
		err = fmt.Errorf("%v: %w", p, errMissing)
	}
	if err != nil {
		return err
	}
	return s.lookAt(p, value, st)
}

// lookAt decides about a message.
func (s *peeking) lookAt(p Position, value []byte, st *peekedState) error {
	if s.peek.States&st.state == 0 {
		return nil
	}
	if err := s.item.read(value, st.received, s.now); err != nil {
		return err
	}
	if Instant(s.item.Sent)+s.retention <= s.now {
		return nil
	}
	s.result.Scanned++
	if s.wanted != nil && !s.wanted[s.item.messageID] || !s.query.Match(&s.item.Item) {
		return nil
	}
	return s.found(p, value, st)
}

func (s *peeking) found(p Position, value []byte, st *peekedState) error {
	m, err := decodeMessage(value)
	if err != nil {
		return err
	}
	f := Peeked{Message: *m, Position: p, State: st.state, Size: m.Size(), Until: st.until}
	if r := st.received; r != nil {
		f.Receives, f.First, f.Last = r.receives, r.first, r.last
		if st.state == StateInFlight {
			f.Until = r.deadline
		}
	}
	if !s.peek.Bodies {
		f.Body = ""
	}
	s.bytes += f.Message.Size()
	s.result.Messages = append(s.result.Messages, f)
	return nil
}

// itemReader shows messages to filters.
type itemReader struct {
	search.Item
	messageID MessageID
	text      [36]byte // of the id
}

// read takes in a message, whose texts it does not copy. m is nil if it was not received.
func (it *itemReader) read(value []byte, m *received, now Instant) error {
	attributes := it.Attributes[:0]
	it.Item = search.Item{Now: int64(now)}
	r := readRecord(value)
	it.Sent = int64(r.Instant())
	copy(it.messageID[:], r.Raw(16))
	it.ID = it.messageID.appendTo(it.text[:0])
	r.Raw(16) // digest
	it.Sender = r.Raw(r.Uint())
	it.Group = r.Raw(r.Uint())
	it.Dedup = r.Raw(r.Uint())
	trace := r.Raw(r.Uint())
	r.Uint() // sequence
	it.Source = r.Raw(r.Uint())
	it.Count = r.Uint()
	it.First = int64(r.Instant())
	it.Size = len(it.Sender) + len(it.Group) + len(it.Dedup) + len(trace) + len(it.Source)
	for range r.Uint() {
		if r.Failed() {
			break
		}
		a := search.Attribute{Name: r.Raw(r.Uint()), Type: r.Raw(r.Uint()), Value: r.Raw(r.Uint())}
		it.Size += len(a.Name) + len(a.Type) + len(a.Value)
		attributes = append(attributes, a)
	}
	it.Attributes = attributes
	it.Body = r.Raw(r.Uint())
	it.Size += len(it.Body)
	if m != nil {
		it.Count += m.receives
		if it.First == 0 {
			it.First = int64(m.first)
		}
	}
	return r.done("message")
}

// wantedIDs returns a set of ids, or nil if there are none.
func wantedIDs(ids []MessageID) map[MessageID]bool {
	if len(ids) == 0 {
		return nil
	}
	set := make(map[MessageID]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// heldAhead reads the records of received messages in order of position, some at a time.
type heldAhead struct {
	r     Reader
	queue ID
	next  Position // where to read on
	ahead []*received
	all   bool
}

const heldAtOnce = 256

// find returns the record of the message at p, or nil if it was not received. It is called with ascending positions.
func (h *heldAhead) find(p Position) (*received, error) {
	for {
		for len(h.ahead) > 0 && h.ahead[0].pos < p {
			h.ahead = h.ahead[1:]
		}
		switch {
		case len(h.ahead) > 0 && h.ahead[0].pos == p:
			return h.ahead[0], nil
		case len(h.ahead) > 0 || h.all:
			return nil, nil
		}
		if err := h.read(max(h.next, p)); err != nil {
			return nil, err
		}
	}
}

func (h *heldAhead) read(from Position) error {
	var bad error
	h.ahead = make([]*received, 0, heldAtOnce)
	_, end := tableRange(h.queue, tableReceived)
	err := h.r.Scan(receivedKey(h.queue, from), end, func(k, v []byte) bool {
		var m *received
		m, _, bad = decodeReceived(Position(tail(k, 0)), v)
		if bad != nil {
			return false
		}
		h.ahead = append(h.ahead, m)
		h.next = m.pos + 1
		return len(h.ahead) < heldAtOnce
	})
	h.all = len(h.ahead) < heldAtOnce
	return firstError(err, bad)
}
